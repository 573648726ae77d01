package kafka

// Explain says in words what went wrong, where, and what to do, with a code for programs: an
// error name of the Kafka protocol in capitals, or one of flightdeck's own in lower case.
func (c *Connection) Explain(err error) (code, text string) {
	return "error", err.Error()
}
