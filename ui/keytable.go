package ui

// KeyTable is the table of keys in Markdown, for the README.
func KeyTable() string { return "" }
