package ui

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"flightdeck/model"
)

// Files of offsets. These functions are for commands.

// offsetsFileMax is the largest file of offsets that is read, in bytes.
const offsetsFileMax = 64 << 20

// readOffsets reads a file in the format of Kafka's --export.
func readOffsets(path string) ([]model.GroupOffset, error) {
	f, err := os.Open(inHome(path))
	if err != nil {
		return nil, fmt.Errorf("%s can not be read: %w", path, plain(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, offsetsFileMax+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s can not be read: %w", path, plain(err))
	case len(text) > offsetsFileMax:
		return nil, fmt.Errorf("%s is larger than %s, and no file of offsets", path, model.Bytes(offsetsFileMax))
	}
	offsets, err := model.ParseOffsetsCSV(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return offsets, nil
}

// writeOffsets writes a new file that Kafka's tools read with --from-file. A file that exists is left alone.
func writeOffsets(path string, offsets []model.GroupOffset) error {
	f, err := os.OpenFile(inHome(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists, and is not written over: take another name", path)
	}
	if err != nil {
		return fmt.Errorf("%s can not be written: %w", path, plain(err))
	}
	_, err = io.WriteString(f, model.OffsetsCSV(offsets))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s can not be written: %w", path, plain(err))
	}
	return nil
}

// plain is the error without the path, which the sentence has already.
func plain(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// inHome resolves a leading ~.
func inHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// offsetsFile is the name that is offered for a file of a group's offsets.
func offsetsFile(group string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, group[:min(len(group), 100)]) + "-offsets.csv"
}
