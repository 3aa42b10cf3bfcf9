package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// answerLines answers every line that is not empty with one line. What is written is flushed when nothing more is at
// hand to be read: fast for a batch, and nobody who writes one line waits in vain.
func answerLines(in io.Reader, out io.Writer, answer func(line []byte) any) error {
	reader, writer := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	defer writer.Flush()
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := writeLine(writer, guarded(answer, line)); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if reader.Buffered() == 0 {
			if err := writer.Flush(); err != nil {
				return err
			}
		}
	}
}

type panicked struct {
	Panic string `json:"panic"`
}

// guarded turns a panic of Istio's code into an answer: it is a fact about this one object.
func guarded(answer func([]byte) any, line []byte) (said any) {
	defer func() {
		if cause := recover(); cause != nil {
			said = panicked{Panic: fmt.Sprint(cause)}
		}
	}()
	return answer(line)
}

func writeLine(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
