package bench

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A rig is a server for measurements of the client, in a process and on a core
// of its own: one thread, one poller, no parsing beyond what it needs. It
// either streams tokens on absolute deadlines and remembers when it sent each
// of them, or answers every request with the same bytes, made beforehand.
type rigPlan struct {
	Core     int           `json:"core"`
	Every    time.Duration `json:"every"`    // between the tokens of a stream
	Together bool          `json:"together"` // all streams' tokens at the same moments, as an engine's steps
	Prebuilt int           `json:"prebuilt"` // events of a reply made beforehand; 0 = stream tokens
}

const rigVariable = "BENCH_TEST_RIG"

// pinned keeps all threads of this process on one core, as far as it may.
func pinned(core int) error {
	var set unix.CPUSet
	set.Set(core)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return err
		}
	}
	return nil
}

// onCore runs the rest of a benchmark on one core and gives the cores back at
// its end.
func onCore(b testing.TB, core int) {
	b.Helper()
	if runtime.NumCPU() < 2 {
		b.Skip("client and server need a core each, this machine has one")
	}
	if err := pinned(core); err != nil {
		b.Skipf("this system gives no choice of cores: %v", err)
	}
	procs := runtime.GOMAXPROCS(1)
	b.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		var all unix.CPUSet
		for i := range runtime.NumCPU() {
			all.Set(i)
		}
		tasks, _ := os.ReadDir("/proc/self/task")
		for _, t := range tasks {
			if id, err := strconv.Atoi(t.Name()); err == nil {
				_ = unix.SchedSetaffinity(id, &all)
			}
		}
	})
}

// startRig starts a rig and returns its address as a target.
func startRig(b testing.TB, p rigPlan) Target {
	b.Helper()
	target, _ := startRigProcess(b, p)
	return target
}

// startRigProcess returns the rig's process too.
func startRigProcess(b testing.TB, p rigPlan) (Target, int) {
	b.Helper()
	spec, err := json.Marshal(p)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), rigVariable+"="+string(spec))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // its end, also by the death of this process, is the rig's
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return Target{URL: "http://" + strings.TrimSpace(addr), Model: "m"}, cmd.Process.Pid
}

// sentTimes asks a rig when it sent the tokens of each request, by the number
// in the request's X-Index header. CLOCK_MONOTONIC, nanoseconds.
func sentTimes(b testing.TB, t Target) map[int][]int64 {
	b.Helper()
	resp, err := http.Get(t.URL + "/sent")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	words := make([]int64, len(all)/8)
	if err := binary.Read(bytes.NewReader(all), binary.LittleEndian, words); err != nil {
		b.Fatal(err)
	}
	sent := map[int][]int64{}
	for len(words) >= 2 {
		n := int(words[1])
		sent[int(words[0])] = words[2 : 2+n]
		words = words[2+n:]
	}
	return sent
}

type rig struct {
	plan   rigPlan
	clock  clock
	boot   string
	poll   int
	listen int
	conns  map[int32]*rigConn
	due    []*rigConn // streams in the order of their deadlines
	head   int        // of due
	reply  []byte
	sent   map[int64][]int64
	buf    []byte
	out    []byte
}

type rigConn struct {
	fd      int
	in      []byte
	pending []byte // of the answer, not yet taken by the kernel
	index   int64
	left    int
	next    int64 // deadline
	stamps  []int64
}

func serveRig(spec string) {
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // nothing here grows, and a collection would be a stall of the server
	r := &rig{clock: newClock(), boot: bootID(), conns: map[int32]*rigConn{}, sent: map[int64][]int64{}, buf: make([]byte, 64<<10)}
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "rig:", err)
			os.Exit(1)
		}
	}
	check(json.Unmarshal([]byte(spec), &r.plan))
	check(pinned(r.plan.Core))
	// Before ordinary work, but no real-time thread: it looks for its deadlines
	// without a pause, and the kernel's own thread that delivers what is sent on a
	// loopback would not run beside it for a second at a time.
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	var err error
	r.listen, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	check(err)
	check(unix.Bind(r.listen, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check(unix.Listen(r.listen, 16384))
	r.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	check(err)
	check(unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, r.listen, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(r.listen)}))
	check(unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, 0, &unix.EpollEvent{Events: unix.EPOLLIN}))
	bound, err := unix.Getsockname(r.listen)
	check(err)
	if r.plan.Prebuilt > 0 {
		r.reply = prebuilt(r.plan.Prebuilt)
	}
	fmt.Printf("127.0.0.1:%d\n", bound.(*unix.SockaddrInet4).Port)
	check(r.serve())
}

// prebuilt is a whole answer of n events, one to a chunk, in the shape of a
// server of the OpenAI API.
func prebuilt(n int) []byte {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := func(s string) { fmt.Fprintf(&b, "%x\r\n%s\r\n", len(s), s) }
	words := []string{" the", " of", " measured", " token", ",", " in", " answer"}
	for i := range n {
		chunk(`data: {"id":"cmpl-8f14e45fceea167a5a36dedd4bea2543","object":"text_completion","created":1700000000,"model":"example/model-8b",` +
			`"choices":[{"index":0,"text":"` + words[i%len(words)] + `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n")
	}
	chunk(usage(4, n))
	chunk("data: [DONE]\n\n")
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

func (r *rig) serve() error {
	events := make([]unix.EpollEvent, 512)
	for {
		n, err := unix.EpollWait(r.poll, events, r.timeout())
		if err != nil && err != unix.EINTR {
			return err
		}
		for _, ev := range events[:max(n, 0)] {
			if ev.Fd == 0 { // nobody writes there
				return nil
			}
			if ev.Fd == int32(r.listen) {
				r.accept()
			} else if c := r.conns[ev.Fd]; c != nil {
				r.ready(c, ev.Events)
			}
		}
		r.send()
	}
}

// timeout is in milliseconds; below one the rig looks instead of sleeping.
func (r *rig) timeout() int {
	if r.head == len(r.due) {
		return 1000
	}
	return int(max(r.due[r.head].next-r.clock.now(), 0) / int64(time.Millisecond))
}

func (r *rig) accept() {
	for {
		fd, _, err := unix.Accept4(r.listen, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		r.conns[int32(fd)] = &rigConn{fd: fd}
		_ = unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
}

func (r *rig) ready(c *rigConn, events uint32) {
	if events&unix.EPOLLOUT != 0 {
		r.write(c, nil)
	}
	if events&^uint32(unix.EPOLLOUT) == 0 {
		return
	}
	n, err := unix.Read(c.fd, r.buf)
	if err == unix.EAGAIN {
		return
	}
	if err != nil || n == 0 {
		delete(r.conns, int32(c.fd))
		unix.Close(c.fd)
		c.fd = -1
		return
	}
	c.in = append(c.in, r.buf[:n]...)
	for {
		used := r.request(c)
		if used == 0 {
			return
		}
		c.in = c.in[:copy(c.in, c.in[used:])]
	}
}

// request answers the request at the front of the input and returns its
// length, 0 while it is not whole.
func (r *rig) request(c *rigConn) int {
	end := bytes.Index(c.in, []byte("\r\n\r\n"))
	if end < 0 {
		return 0
	}
	whole := end + 4 + int(after(c.in[:end], "Content-Length: "))
	if len(c.in) < whole {
		return 0
	}
	switch {
	case bytes.HasPrefix(c.in, []byte("GET /sent ")):
		r.tell(c)
	case !bytes.HasPrefix(c.in, []byte("POST /v1/completions ")):
		r.write(c, []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
	case r.reply != nil:
		r.write(c, r.reply)
	default:
		r.begin(c, after(c.in[:end], "X-Index: "), int(after(c.in[end:whole], `"max_tokens": `)))
	}
	return whole
}

// after is the number behind a text, 0 without it.
func after(b []byte, text string) int64 {
	i := bytes.Index(b, []byte(text))
	if i < 0 {
		return 0
	}
	var n int64
	for _, d := range b[i+len(text):] {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int64(d-'0')
	}
	return n
}

// begin takes a stream into the row of deadlines. All have the same distance,
// so the row stays in order.
func (r *rig) begin(c *rigConn, index int64, tokens int) {
	every, now := int64(r.plan.Every), r.clock.now()
	c.index, c.left, c.next = index, tokens, now+every
	if r.plan.Together {
		c.next = (now/every + 1) * every
	}
	c.stamps = make([]int64, 0, tokens)
	r.due = append(r.due, c)
}

// send sends the tokens whose time has come, some of them at a time, so that
// requests are read in between.
func (r *rig) send() {
	for range 32 {
		if r.head == len(r.due) || r.due[r.head].next > r.clock.now() {
			break
		}
		c := r.due[r.head]
		r.due[r.head] = nil
		r.head++
		if c.fd < 0 {
			continue
		}
		r.token(c)
		if c.left > 0 {
			c.next += int64(r.plan.Every)
			r.due = append(r.due, c)
		}
	}
	if r.head > 1<<16 {
		r.due = slices.Delete(r.due, 0, r.head)
		r.head = 0
	}
}

func (r *rig) token(c *rigConn) {
	out := r.out[:0]
	if len(c.stamps) == 0 {
		out = append(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Refit-Clock: monotonic "...)
		out = append(append(out, r.boot...), "\r\n\r\n"...)
	}
	const head = `data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":" word","finish_reason":null}],"sent_ns":`
	now := r.clock.now()
	c.stamps = append(c.stamps, now)
	var digits [20]byte
	stamp := strconv.AppendInt(digits[:0], now, 10)
	out = strconv.AppendInt(out, int64(len(head)+len(stamp)+3), 16)
	out = append(append(append(append(out, "\r\n"...), head...), stamp...), "}\n\n\r\n"...)
	if c.left--; c.left == 0 {
		last := usage(4, len(c.stamps)) + "data: [DONE]\n\n"
		out = fmt.Appendf(out, "%x\r\n%s\r\n0\r\n\r\n", len(last), last)
		r.sent[c.index] = c.stamps
	}
	r.out = out
	r.write(c, out)
}

// tell sends the times of all tokens sent.
func (r *rig) tell(c *rigConn) {
	var words []int64
	for index, stamps := range r.sent {
		words = append(append(words, index, int64(len(stamps))), stamps...)
	}
	out := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 8*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, uint64(w))
	}
	r.write(c, out)
}

// write hands the answer to the kernel; what it does not take waits.
func (r *rig) write(c *rigConn, out []byte) {
	waited := len(c.pending) > 0
	if waited {
		out = append(c.pending, out...)
	}
	for len(out) > 0 {
		n, err := unix.SendmsgN(c.fd, out, nil, nil, unix.MSG_NOSIGNAL)
		if err != nil {
			break
		}
		out = out[n:]
	}
	if len(out) > 0 {
		c.pending = append(c.pending[:0:0], out...)
	} else {
		c.pending = nil
	}
	if want := len(c.pending) > 0; want != waited {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}
		if want {
			ev.Events |= unix.EPOLLOUT
		}
		_ = unix.EpollCtl(r.poll, unix.EPOLL_CTL_MOD, c.fd, &ev)
	}
}
