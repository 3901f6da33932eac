package local

import (
	"fmt"
	"hash/crc32"
	"net/url"
)

type wireUser struct {
	Login     string `json:"login"`
	ID        int64  `json:"id"`
	NodeID    string `json:"node_id"`
	Type      string `json:"type"` // User | Bot
	HTML      string `json:"html_url"`
	Avatar    string `json:"avatar_url"`
	Gravatar  string `json:"gravatar_id"`
	SiteAdmin bool   `json:"site_admin"`
	userLinks
}

// userLinks are a user's addresses below his own.
type userLinks struct {
	URL           string `json:"url" at:""`
	Events        string `json:"events_url" at:"/events{/privacy}"`
	Followers     string `json:"followers_url" at:"/followers"`
	Following     string `json:"following_url" at:"/following{/other_user}"`
	Gists         string `json:"gists_url" at:"/gists{/gist_id}"`
	Organizations string `json:"organizations_url" at:"/orgs"`
	Received      string `json:"received_events_url" at:"/received_events"`
	Repos         string `json:"repos_url" at:"/repos"`
	Starred       string `json:"starred_url" at:"/starred{/owner}{/repo}"`
	Subscriptions string `json:"subscriptions_url" at:"/subscriptions"`
}

// user describes an account, nil without a login. Ids follow from the login,
// for accounts are configuration here.
func (l links) user(login string) *wireUser {
	if login == "" {
		return nil
	}
	id, name := int64(crc32.ChecksumIEEE([]byte(login))), url.PathEscape(login)
	u := &wireUser{Login: login, ID: id, NodeID: fmt.Sprintf("U_%d", id), Type: "User", HTML: l.base + "/" + name, Avatar: l.base + "/" + name + ".png"}
	if isApp(login) {
		u.Type = "Bot"
	}
	addresses(&u.userLinks, l.base+apiRoot+"/users/"+name)
	return u
}

// A wireProfile is how a user sees himself. An account is only a name here.
type wireProfile struct {
	*wireUser
	View     string  `json:"user_view_type"`
	Name     *string `json:"name"`
	Company  *string `json:"company"`
	Blog     *string `json:"blog"`
	Location *string `json:"location"`
	Email    *string `json:"email"`
	Hireable *bool   `json:"hireable"`
	Bio      *string `json:"bio"`
	Repos    int     `json:"public_repos"`
	Gists    int     `json:"public_gists"`
	Fans     int     `json:"followers"`
	Follows  int     `json:"following"`
	Created  *string `json:"created_at"`
	Updated  *string `json:"updated_at"`
}

func (s *Server) profile(l links, login string) wireProfile {
	return wireProfile{wireUser: l.user(login), View: "public", Created: stamp(s.since), Updated: stamp(s.since)}
}
