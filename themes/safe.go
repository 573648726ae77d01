package themes

// The high-contrast palettes keep a ratio of 7 to their background for all text.
var contrastDarkPalette = palette{
	dark:     true,
	paint:    true,
	back:     []uint32{0x000000},
	selected: 0x00245c,
	inks:     darkPalette.inks,
}.with(map[Token]ink{
	Text:      {fg: 0xffffff},
	Muted:     {fg: 0xe6e6e6, ansi: plain},
	Faint:     {fg: 0xcfcfcf, ansi: plain},
	Header:    {fg: 0xffffff},
	Border:    {fg: 0xcfcfcf, ansi: plain},
	Stale:     {fg: 0xcfcfcf, ansi: plain, attrs: italic},
	Disabled:  {fg: 0xcfcfcf, ansi: plain, attrs: italic},
	Accent:    {fg: 0x8fd3ff},
	Key:       {fg: 0x8fd3ff},
	Info:      {fg: 0x8fd3ff},
	OK:        {fg: 0x5cff9d},
	Warning:   {fg: 0xffe14d, attrs: bold},
	Critical:  {fg: 0xffb3ad, attrs: bold | underline},
	ReadOnly:  {fg: 0x000000, bg: 0xffe14d},
	Demo:      {fg: 0x000000, bg: 0x5cff9d},
	Profile:   {fg: 0x000000, bg: 0x8fd3ff},
	Available: {fg: 0x8fd3ff}, Acquired: {fg: 0xffe14d}, Acknowledged: {fg: 0x5cff9d},
	Archiving: {fg: 0xffc48a}, Archived: {fg: 0xffb3ad}, Held: {fg: 0xffb8f8},
})

var contrastLightPalette = palette{
	paint:    true,
	back:     []uint32{0xffffff},
	selected: 0xdbe8ff,
	inks:     lightPalette.inks,
}.with(map[Token]ink{
	Text:      {fg: 0x000000},
	Muted:     {fg: 0x26292d, ansi: plain},
	Faint:     {fg: 0x3a3f45, ansi: plain},
	Header:    {fg: 0x000000},
	Border:    {fg: 0x3a3f45, ansi: plain},
	Stale:     {fg: 0x3a3f45, ansi: plain, attrs: italic},
	Disabled:  {fg: 0x3a3f45, ansi: plain, attrs: italic},
	Accent:    {fg: 0x003a8c},
	Key:       {fg: 0x003a8c},
	Info:      {fg: 0x003a8c},
	Match:     {fg: 0x5e3200},
	Marked:    {fg: 0x571b85},
	OK:        {fg: 0x064a1f},
	Warning:   {fg: 0x573600, attrs: bold},
	Critical:  {fg: 0x870011, attrs: bold | underline},
	ReadOnly:  {fg: 0xffffff, bg: 0x573600},
	Demo:      {fg: 0xffffff, bg: 0x064a1f},
	Profile:   {fg: 0xffffff, bg: 0x003a8c},
	Available: {fg: 0x003a8c}, Acquired: {fg: 0x573600}, Acknowledged: {fg: 0x064a1f},
	Archiving: {fg: 0x6e2b00}, Archived: {fg: 0x870011}, Held: {fg: 0x76136a},
})

// The colour-blind palettes are made of the colours of Okabe and Ito ("Color Universal Design",
// 2008), lightened or darkened until they can be read as text. Red against green is avoided: what is
// well is blue, what is not is orange.
var safeDarkPalette = darkPalette.with(map[Token]ink{
	Accent:    {fg: 0xe6e9ef, ansi: 15},
	Key:       {fg: 0xe6e9ef, ansi: 15},
	Match:     {fg: 0xf0e442},
	Marked:    {fg: 0xe5a9cb},
	OK:        {fg: 0x6cc0f0, ansi: 14},
	Info:      {fg: 0xdfe3ea, ansi: plain},
	Warning:   {fg: 0xf0e442, ansi: 11},
	Critical:  {fg: 0xff9f5c, ansi: 9},
	ReadOnly:  {fg: 0x16181d, bg: 0xf0e442},
	Demo:      {fg: 0x16181d, bg: 0x6cc0f0, ansi: 14},
	Profile:   {fg: 0x16181d, bg: 0xe5a9cb, ansi: 13},
	Available: {fg: 0xdfe3ea, ansi: 15}, Acquired: {fg: 0xf0e442, ansi: 11}, Acknowledged: {fg: 0x6cc0f0, ansi: 14},
	Archiving: {fg: 0xe5a9cb, ansi: 13}, Archived: {fg: 0xff9f5c, ansi: 9}, Held: {fg: 0xf0e442, ansi: 11, attrs: underline},
})

var safeLightPalette = lightPalette.with(map[Token]ink{
	Accent:    {fg: 0x14171b, ansi: plain},
	Key:       {fg: 0x14171b, ansi: plain},
	Match:     {fg: 0x7a5200},
	Marked:    {fg: 0x843563},
	OK:        {fg: 0x005a8c, ansi: 4},
	Info:      {fg: 0x1f2328, ansi: plain},
	Warning:   {fg: 0x765c00, ansi: 5},
	Critical:  {fg: 0x6e1c00, ansi: 1},
	ReadOnly:  {fg: 0xffffff, bg: 0x765c00},
	Demo:      {fg: 0xffffff, bg: 0x005a8c, ansi: 4},
	Profile:   {fg: 0xffffff, bg: 0x843563, ansi: 5},
	Available: {fg: 0x1f2328, ansi: plain}, Acquired: {fg: 0x765c00, ansi: 5}, Acknowledged: {fg: 0x005a8c, ansi: 4},
	Archiving: {fg: 0x843563, ansi: 5}, Archived: {fg: 0x6e1c00, ansi: 1}, Held: {fg: 0x765c00, ansi: 5, attrs: underline},
})
