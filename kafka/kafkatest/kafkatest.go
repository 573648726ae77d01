// Package kafkatest runs real Apache Kafka for tests.
//
// # Vocabulary
//
// A [Cluster] is one or three nodes in KRaft mode, each of them broker and controller, as processes
// of this machine on 127.0.0.1. A node is named by its node.id, from 1. A [Listener] is a security
// protocol that the nodes serve besides PLAINTEXT. A tool is one of Kafka's own command-line tools,
// run from the same jars.
//
// # Rules
//
//   - The environment variable FLIGHTDECK_TEST_KAFKA lists the versions to test against, as in
//     "4.1.1 4.3.1 4.4.0". Without it a test that asks for a cluster is skipped and says how to run
//     it. With it nothing is skipped: what does not install or does not start fails the test.
//   - The jars come from Maven Central through mvn, once for each version, into
//     flightdeck/kafka/VERSION of the user's cache folder. Java 17 or later runs them.
//   - Nothing waits by sleeping for a guessed time. A cluster is handed out when every node answers
//     ApiVersions and lists all nodes in Metadata.
//   - Nodes are ended by their own process, and do not outlive the test binary on Linux even when it
//     is killed.
//
// A test of one behaviour on every version, on brokers that the package's tests share:
//
//	func TestMain(m *testing.M) { kafkatest.Main(m) }
//
//	func TestLag(t *testing.T) {
//		kafkatest.Run(t, func(t *testing.T, version string) {
//			c := kafkatest.Shared(t, version)
//			topic := kafkatest.Name("orders")
//			c.CreateTopic(t, topic, 3)
//			c.Produce(t, topic, 0, 10)
//			...
//		})
//	}
package kafkatest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Env is the environment variable that lists the Kafka versions to test against, separated by spaces.
const Env = "FLIGHTDECK_TEST_KAFKA"

// Versions returns the Kafka versions to test against, in the order of [Env]. When it is not set the
// test is skipped, with one line that says how to run it.
func Versions(t testing.TB) []string {
	t.Helper()
	versions := strings.Fields(os.Getenv(Env))
	if len(versions) == 0 {
		t.Skipf(`did not run against real Kafka: set %s="4.1.1 4.3.1 4.4.0" (needs Java 17 and mvn), or run "make real"`, Env)
	}
	return versions
}

// Latest returns the last version of [Versions], for what is worth testing against one version only.
func Latest(t testing.TB) string {
	t.Helper()
	versions := Versions(t)
	return versions[len(versions)-1]
}

// Run runs f once for each of [Versions], as a subtest named after the version.
func Run(t *testing.T, f func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range Versions(t) {
		t.Run(version, func(t *testing.T) { f(t, version) })
	}
}

// Name returns prefix with a random suffix: a topic or group of that name belongs to one test alone,
// also on a shared cluster and when the test is repeated.
func Name(prefix string) string {
	return fmt.Sprintf("%s-%08x", prefix, rand.Uint32())
}

// Await calls f, every 50 ms and for a minute at most, until it has no error; what says in the words of a
// failure what is waited for.
func Await(t testing.TB, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute of waiting until %s: %v", what, err)
		}
	}
}

// shared holds the clusters of this test binary that its tests share.
var shared struct {
	sync.Mutex
	dir      string // set by Main
	clusters map[string]*sharedCluster
}

type sharedCluster struct {
	once    sync.Once
	cluster *Cluster
	err     error
}

// Main runs the tests of a package that uses [Shared], stops the shared clusters, and exits the
// process. It is called by TestMain and does not return.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "flightdeck-kafka-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "kafkatest:", err)
		os.Exit(1)
	}
	shared.dir, shared.clusters = dir, map[string]*sharedCluster{}
	code := m.Run()
	for _, s := range shared.clusters {
		if s.cluster != nil {
			s.cluster.close()
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "kafkatest:", err)
	}
	os.Exit(code)
}

// Shared returns the single-node cluster of version that all tests of this binary share. The first
// call starts it, with zero [Options]; [Main] ends it. Whoever shares it leaves its nodes alone, and
// takes topics and groups from [Name].
func Shared(t testing.TB, version string) *Cluster {
	t.Helper()
	shared.Lock()
	if shared.clusters == nil {
		shared.Unlock()
		t.Fatal("kafkatest.Shared needs: func TestMain(m *testing.M) { kafkatest.Main(m) }")
	}
	s := shared.clusters[version]
	if s == nil {
		s = new(sharedCluster)
		shared.clusters[version] = s
	}
	dir := filepath.Join(shared.dir, version)
	shared.Unlock()

	s.once.Do(func() {
		s.cluster, s.err = launch(version, Options{}, dir)
	})
	if s.err != nil {
		t.Fatalf("start shared Kafka %s: %v", version, s.err)
	}
	t.Cleanup(func() { s.cluster.report(t) })
	return s.cluster
}

// Start starts a cluster of version for this test alone and ends it with the test. A cluster that does
// not start fails the test, with the errors that the nodes logged.
func Start(t testing.TB, version string, o Options) *Cluster {
	t.Helper()
	c, err := launch(version, o, t.TempDir())
	if err != nil {
		t.Fatalf("start Kafka %s: %v", version, err)
	}
	t.Cleanup(func() {
		c.report(t)
		c.close()
	})
	return c
}
