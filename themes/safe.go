package themes

var contrastDarkPalette = darkPalette
var contrastLightPalette = lightPalette
var safeDarkPalette = darkPalette
var safeLightPalette = lightPalette
