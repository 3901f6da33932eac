package bench

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRemoteEnd(t *testing.T) {
	if !strings.HasPrefix(remoteEnd(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), "0100007F") {
		t.Skip("the rest is spelled for a little-endian machine")
	}
	table := `  sl  local_address rem_address   st tx_queue rx_queue
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000
   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000
   2: 0100007F:9C41 0100007F:1F90 06 00000000:00000000
   3: 0100007F:9C42 0100007F:1F91 01 00000000:00000000
`
	target := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 8080}
	if n := connectionsTo([]byte(table), target); n != 1 {
		t.Errorf("%d connections to 127.0.0.1:8080, want the established one alone", n)
	}
	six := &unix.SockaddrInet6{Addr: [16]byte{0xfe, 0x80, 15: 1}, Port: 443}
	if got, want := remoteEnd(six), "000080FE000000000000000001000000:01BB"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHeadroomIsChecked(t *testing.T) {
	ports := 50
	check := func(h Headroom, want string) {
		t.Helper()
		err := h.check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", h, err, want)
		}
	}
	check(Headroom{Connections: 50, Descriptors: 50, Ports: &ports}, "")
	check(Headroom{Connections: 51, Descriptors: 50}, "51 connections at a time, but only 50 files may be opened: raise the limit (ulimit -n)")
	check(Headroom{Connections: 51, Descriptors: 60, Ports: &ports}, "only 50 local ports are free")
	if most := (Headroom{Descriptors: 60, Ports: &ports}).most(); most != 50 {
		t.Errorf("room for %d, want 50", most)
	}
	if most := (Headroom{Descriptors: -3}).most(); most != 0 {
		t.Errorf("room for %d, want none", most)
	}
}

// Without a cap the room is the cap; with one that is too large nothing is
// measured.
func TestPlaces(t *testing.T) {
	target := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: 1}
	room, users, err := places(target, Workload{Requests: 5})
	if err != nil || users != 0 || room.Connections != 5 || room.Descriptors < 5 || room.Ports == nil || *room.Ports < 1000 {
		t.Errorf("5 requests: got %+v, %d, %v", room, users, err)
	}
	room, users, err = places(target, Workload{Requests: 1 << 28})
	if err != nil || users != room.most() || users < 1000 {
		t.Errorf("more than there is room for: got %+v, %d, %v", room, users, err)
	}
	if _, _, err := places(target, Workload{Requests: 1 << 28, Concurrency: 1 << 27}); err == nil || !strings.Contains(err.Error(), "lower the concurrency") {
		t.Errorf("a cap there is no room for: got %v", err)
	}
	if _, users, err := places(target, Workload{Requests: 5, Concurrency: 1 << 27}); err != nil || users != 1<<27 {
		t.Errorf("a cap above the requests: got %d, %v", users, err)
	}
}
