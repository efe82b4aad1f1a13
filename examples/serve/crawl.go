// Stores the pages of a JSON Lines file, unless they are near-duplicates: go run crawl.go PAGES.jsonl
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
)

type page struct{ ID, Text string }

type request struct {
	Op   string `json:"op"`
	ID   string `json:"id"`
	Key  string `json:"key"`
	Text string `json:"text"`
}

type answer struct {
	ID, Verdict string
	Error       *struct{ Message string }
}

func askAll(path string, requests io.WriteCloser) {
	defer requests.Close()
	pages, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	reading, writing := json.NewDecoder(pages), json.NewEncoder(requests)
	for reading.More() {
		var p page
		if err := reading.Decode(&p); err != nil {
			log.Fatal(err)
		}
		if err := writing.Encode(request{"insert", p.ID, p.ID, p.Text}); err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	server := exec.Command("dedupdb", "--store", "seen", "serve")
	server.Stderr = os.Stderr
	requests, _ := server.StdinPipe()
	answers, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}
	// Answers are read while requests are written, or both processes would wait for each other.
	go askAll(os.Args[1], requests)
	verdicts := map[string]int{}
	for reading := json.NewDecoder(answers); reading.More(); {
		var a answer
		if err := reading.Decode(&a); err != nil {
			log.Fatal(err)
		}
		if a.Error != nil {
			log.Print(a.ID, ": ", a.Error.Message)
		} else {
			verdicts[a.Verdict]++
		}
	}
	for _, verdict := range []string{"added", "exact_copy", "near_duplicate", "unchanged", "updated"} {
		if verdicts[verdict] > 0 {
			fmt.Println(verdict, verdicts[verdict])
		}
	}
	if err := server.Wait(); err != nil {
		log.Fatal(err)
	}
}
