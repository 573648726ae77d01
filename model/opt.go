package model

import "encoding/json"

// Opt is a value that may be unknown. Its zero value is unknown, so that what nobody measured
// can not be mistaken for zero.
type Opt[T any] struct {
	value T
	known bool
}

// Int is an optional offset, lag or count.
type Int = Opt[int64]

// Some is a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, known: true} }

// None is an unknown value.
func None[T any]() Opt[T] { return Opt[T]{} }

// Get returns the value and whether it is known.
func (o Opt[T]) Get() (T, bool) { return o.value, o.known }

// Known reports whether the value is known.
func (o Opt[T]) Known() bool { return o.known }

// Or returns the value, or fallback where it is unknown. It is for places that have a true
// fallback (a sort order, a clamp); a screen shows "-" instead.
func (o Opt[T]) Or(fallback T) T {
	if o.known {
		return o.value
	}
	return fallback
}

// MarshalJSON writes the value, or null where it is unknown.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.known {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Opt[T]) UnmarshalJSON(text []byte) error {
	*o = Opt[T]{}
	if string(text) == "null" {
		return nil
	}
	if err := json.Unmarshal(text, &o.value); err != nil {
		return err
	}
	o.known = true
	return nil
}
