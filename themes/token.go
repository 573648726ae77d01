// Package themes gives every meaning on the screen its look: colours, attributes and glyphs.
//
// # Vocabulary
//
// A [Token] is a meaning ("warning", "record acquired"). A palette holds the ink for every token;
// a [Theme] is a palette made ready for one terminal: escape sequences built once, for a colour
// [colorprofile.Profile] and a background. [Glyphs] are the characters that a theme draws with.
//
// # Rules
//
//   - Widgets and screens name tokens, never colours.
//   - State is never told by colour alone: it has a word or a glyph as well, and without colours the
//     tokens differ by bold, underline and reverse as far as they can.
//   - Every glyph takes one cell in every locale, but for frame lines, which have a set of their own
//     for East Asian locales.
package themes

// Token is the meaning of a piece of text.
type Token uint8

// The tokens. Record states are those of KIP-932; a weaker form of each is had from
// [Token.Inferred].
const (
	Text   Token = iota // plain text
	Muted               // secondary text
	Faint               // text that may be overlooked: separators, units, unknown values
	Accent              // where the person is: the active tab, the sorted column
	Title               // titles of screens and boxes
	Header              // column headers
	Border              // lines
	Key                 // a key in the footer or in help
	Match               // characters that matched a search

	Selected // the row under the cursor; see Theme.OnSelected for other tokens on it
	Marked   // a row marked for an action
	Stale    // values that are older than the screen
	Disabled // a key or choice that cannot be used now

	OK       // as it should be
	Info     // worth knowing
	Warning  // needs attention
	Critical // needs action

	ReadOnly // badge: nothing can be changed
	Demo     // badge: the embedded cluster
	Profile  // badge: name of the connection profile

	Available    // record state
	Acquired     // record state
	Acknowledged // record state
	Archiving    // record state
	Archived     // record state
	Held         // acquired by this process

	inferredAvailable
	inferredAcquired
	inferredAcknowledged
	inferredArchiving
	inferredArchived
	inferredHeld

	tokens // number of tokens
)

// Inferred is the weaker form of a record state that was concluded and not seen. Other tokens are
// returned as they are.
func (t Token) Inferred() Token {
	if t >= Available && t <= Held {
		return t + (inferredAvailable - Available)
	}
	return t
}

// fact is the record state that an inferred form is made from.
func (t Token) fact() (Token, bool) {
	if t >= inferredAvailable && t < tokens {
		return t - (inferredAvailable - Available), true
	}
	return t, false
}

// Tokens lists all tokens, for tests and legends.
func Tokens() []Token {
	all := make([]Token, tokens)
	for i := range all {
		all[i] = Token(i)
	}
	return all
}

var tokenNames = [tokens]string{
	"Text", "Muted", "Faint", "Accent", "Title", "Header", "Border", "Key", "Match",
	"Selected", "Marked", "Stale", "Disabled",
	"OK", "Info", "Warning", "Critical",
	"ReadOnly", "Demo", "Profile",
	"Available", "Acquired", "Acknowledged", "Archiving", "Archived", "Held",
	"Available?", "Acquired?", "Acknowledged?", "Archiving?", "Archived?", "Held?",
}

func (t Token) String() string {
	if t < tokens {
		return tokenNames[t]
	}
	return "unknown token"
}
