package candidate

import (
	"time"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/result/api"
)

const (
	capacityAge  = 120 * time.Second // how old the answer itself may be
	capacitySkew = 5 * time.Second   // how far two clocks may disagree
)

// Capacity says which clusters may take one more sweep. It holds no figures:
// those are private, and no reason in it tells one.
type Capacity struct {
	open   string            // why every cluster is eligible, "" where clusters were asked
	void   string            // why no cluster at all is eligible, "" for no reason
	reason map[string]string // of each cluster that is not eligible why, "" for the others
}

// StatusCapacity is the capacity that a status document shows at a moment. A
// text that is no such document makes nothing eligible.
func StatusCapacity(src []byte, now time.Time) Capacity {
	doc, err := api.ParseClusterStatus(src)
	if err != nil {
		return Capacity{void: err.Error()}
	}
	return capacityOf(doc, now)
}

// SinfoCapacity is the same by a record of one Slurm cluster, made on it with
//
//	(date -u +%Y-%m-%dT%H:%M:%SZ; sinfo -h -N -o '%N|%T') > FILE
func SinfoCapacity(id string, src []byte, now time.Time) Capacity {
	doc, err := parseSinfo(id, src)
	if err != nil {
		return Capacity{void: "sinfo record: " + err.Error()}
	}
	return capacityOf(doc, now)
}

// capacityOf applies the rule of eligibility at a moment. What is missing or odd
// is not eligible; an answer that is too old, or that names a cluster twice,
// makes nothing eligible.
func capacityOf(doc api.ClusterStatus, now time.Time) Capacity {
	if reason := untimely(doc.GeneratedAt, now); reason != "" {
		return Capacity{void: reason}
	}
	c := Capacity{reason: map[string]string{}}
	for _, cluster := range doc.Clusters {
		if _, twice := c.reason[cluster.ID]; twice && cluster.ID != "" {
			return Capacity{void: "the answer names a cluster twice"}
		}
		c.reason[cluster.ID] = ineligible(cluster, doc.GeneratedAt)
	}
	return c
}

// untimely says why an answer made at a moment cannot be used now.
func untimely(made, now time.Time) string {
	switch age := now.Sub(made); {
	case age > capacityAge:
		return "the answer is more than 120 s old: ask again"
	case age < -capacitySkew:
		return "the answer is from the future: one of the two clocks is wrong"
	}
	return ""
}

// ineligible says why a cluster is not eligible, "" when it is.
func ineligible(c api.Cluster, generated time.Time) string {
	switch {
	case c.Odd != "":
		return "the answer about it is not as it should be: " + c.Odd
	case c.Stale:
		return "what is known about it is stale"
	case c.Status != "operational" && c.Status != "degraded":
		return "its status is neither operational nor degraded"
	case after(c.ObservedAt, c.ReceivedAt), after(c.ReceivedAt, generated), after(c.ObservedAt, generated):
		return "its times are out of order"
	}
	return noRoom(c.Nodes)
}

// after says whether a comes after b by more than clocks may disagree.
func after(a, b time.Time) bool { return a.Sub(b) > capacitySkew }

// noRoom says why the nodes of a cluster have no room, "" when they have: the
// counts make sense, a node is idle, and strictly less than 80 % are in use.
// Both ways of being full are one reason, because two would tell a figure.
func noRoom(n api.Nodes) string {
	switch {
	case n.Total <= 0 || min(n.Allocated, n.Mixed, n.Idle, n.Down, n.Other) < 0,
		n.Allocated+n.Mixed+n.Idle+n.Down+n.Other != n.Total:
		return "its node counts do not add up"
	case n.Idle == 0, (n.Allocated+n.Mixed)*5 >= n.Total*4:
		return "it has no room now"
	}
	return ""
}

// Check asks for clusters by id and answers for each in that order.
func (c Capacity) Check(ids []string) []gate.Verdict {
	all := make([]gate.Verdict, len(ids))
	for i, id := range ids {
		all[i] = c.verdict(id)
	}
	return all
}

func (c Capacity) verdict(id string) gate.Verdict {
	v := gate.Verdict{Gate: id, Answer: gate.Fail, Reason: c.void}
	if c.open != "" {
		v.Answer, v.Reason = gate.Pass, c.open
	}
	if v.Reason != "" {
		return v
	}
	reason, known := c.reason[id]
	switch {
	case !known || id == "":
		v.Reason = "the answer has no such cluster"
	case reason != "":
		v.Reason = reason
	default:
		v.Answer, v.Reason = gate.Pass, "eligible"
	}
	return v
}
