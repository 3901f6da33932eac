package sim

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxBacklog is how many bytes a client may be behind before it is dropped.
const maxBacklog = 4 << 20

// stream is the sink of a streamed answer: one chunk and one write for every
// token, straight from the scheduler's thread so that nothing lies between the
// stamp and the write. A client that does not keep up gets a goroutine of its
// own; the others do not notice.
type stream struct {
	conn  net.Conn
	raw   syscall.RawConn
	clock clock
	done  chan struct{} // closed when no byte will be written any more

	header       string // status line and headers, sent with the first token
	first, later string // JSON before the text
	middle       string // JSON between the text and the finish reason
	usage        func(tokens int) string

	buffer []byte
	event  []byte
	stamp  [20]byte

	written int   // set by send
	failed  error // set by send
	sender  func(fd uintptr) bool

	mu       sync.Mutex
	backlog  []byte
	draining bool
	finished bool // the last byte is written or in the backlog
	closed   bool
}

func newStream(conn *net.TCPConn, c clock, header string) (*stream, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &stream{conn: conn, raw: raw, clock: c, header: header, done: make(chan struct{}), buffer: make([]byte, 0, 1024), event: make([]byte, 0, 512)}
	s.sender = s.send
	return s, nil
}

// completionFrames sets the JSON of a text completion.
func (s *stream) completionFrames(id, model string, created int64) {
	s.first = fmt.Sprintf(`data: {"id":%s,"object":"text_completion","created":%d,"model":%s,"choices":[{"index":0,"text":"`, quote(id), created, quote(model))
	s.later = s.first
	s.middle = `","logprobs":null,"finish_reason":`
}

// chatFrames sets the JSON of a chat completion; the role comes with the first
// token, so that every message is a token.
func (s *stream) chatFrames(id, model string, created int64) {
	head := fmt.Sprintf(`data: {"id":%s,"object":"chat.completion.chunk","created":%d,"model":%s,"choices":[{"index":0,"delta":{`, quote(id), created, quote(model))
	s.first = head + `"role":"assistant","content":"`
	s.later = head + `"content":"`
	s.middle = `"},"logprobs":null,"finish_reason":`
}

func (s *stream) token(n int, text, finish string) {
	out := s.buffer[:0]
	head := s.later
	if n == 0 {
		out = append(out, s.header...)
		head = s.first
	}
	event := append(s.event[:0], head...)
	event = appendEscaped(event, text)
	event = append(event, s.middle...)
	if finish == "" {
		event = append(event, `null}],"sent_ns":`...)
	} else {
		event = append(event, '"')
		event = append(event, finish...)
		event = append(event, `"}],"sent_ns":`...)
	}
	event = append(event, strconv.AppendInt(s.stamp[:0], s.clock.now(), 10)...)
	event = append(event, "}\n\n"...)
	out = appendChunk(out, event)
	s.event = event[:0]
	if finish != "" {
		if s.usage != nil {
			out = appendChunk(out, []byte(s.usage(n+1)))
		}
		out = appendChunk(out, []byte("data: [DONE]\n\n"))
		out = append(out, "0\r\n\r\n"...)
	}
	s.buffer = out
	s.write(out, finish != "")
}

func (s *stream) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked()
}

func (s *stream) closeLocked() {
	if !s.closed {
		s.closed = true
		close(s.done)
	}
}

// write sends now what the socket takes and leaves the rest to a goroutine.
func (s *stream) write(data []byte, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.finished = s.finished || last
	if !s.draining {
		s.buffer, s.written, s.failed = data, 0, nil
		if err := s.raw.Write(s.sender); err != nil || s.failed != nil {
			s.closeLocked()
			return
		}
		if s.written == len(data) {
			if last {
				s.closeLocked()
			}
			return
		}
		data = data[s.written:]
	}
	if len(s.backlog)+len(data) > maxBacklog {
		s.closeLocked()
		return
	}
	s.backlog = append(s.backlog, data...)
	if !s.draining {
		s.draining = true
		go s.drain() // ends when the backlog is empty or the connection closed
	}
}

// send is one non-blocking write of the buffer.
func (s *stream) send(fd uintptr) bool {
	for {
		n, err := unix.Write(int(fd), s.buffer)
		switch err {
		case nil:
			s.written = n
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			s.failed = err
		}
		return true
	}
}

// drain writes the backlog of a client that is behind.
func (s *stream) drain() {
	for {
		s.mu.Lock()
		data := s.backlog
		s.backlog = nil
		if len(data) == 0 {
			s.draining = false
			if s.finished {
				s.closeLocked()
			}
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if _, err := s.conn.Write(data); err != nil {
			s.cut()
			return
		}
	}
}

// appendChunk frames data as one chunk of HTTP's chunked coding.
func appendChunk(out, data []byte) []byte {
	out = strconv.AppendInt(out, int64(len(data)), 16)
	out = append(out, "\r\n"...)
	out = append(out, data...)
	return append(out, "\r\n"...)
}

// appendEscaped adds the engine's own texts to a JSON string; of what needs
// escaping they hold nothing but line feeds.
func appendEscaped(out []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			out = append(out, `\n`...)
		} else {
			out = append(out, text[i])
		}
	}
	return out
}

// quote is s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("sim: a string did not become JSON: " + err.Error())
	}
	return string(b)
}
