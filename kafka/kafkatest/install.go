package kafkatest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// pom names what a broker and Kafka's tools need; copy-dependencies brings that and what it needs in turn.
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flightdeck</groupId>
  <artifactId>kafkatest</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${kafka.version}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>${kafka.version}</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.24.3</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>2.24.3</version></dependency>
  </dependencies>
</project>
`

var versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(-[A-Za-z0-9]+)?$`)

// install returns the folder with the jars of version, and fills it first when it is not there. Test
// binaries that run at the same time wait for one another; a folder that is there is complete.
func install(version string) (string, error) {
	if !versionPattern.MatchString(version) {
		return "", fmt.Errorf("%s: %q is not a version of Kafka like 4.3.1", Env, version)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for Kafka's jars: %w", err)
	}
	root := filepath.Join(cache, "flightdeck", "kafka")
	dir := filepath.Join(root, version)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}

	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}

	tmp := dir + ".partial" // under the lock: what is there was left by a killed run
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	jars := filepath.Join(tmp, "jars")
	if err := os.MkdirAll(jars, 0o755); err != nil {
		return "", err
	}
	pomFile := filepath.Join(tmp, "pom.xml")
	if err := os.WriteFile(pomFile, []byte(pom), 0o644); err != nil {
		return "", err
	}
	mvn := exec.Command("mvn", "-q", "-B", "-f", pomFile,
		"org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
		"-Dkafka.version="+version, "-DoutputDirectory="+jars, "-DincludeScope=runtime")
	if out, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("install Kafka %s with mvn: %w\n%s", version, err, bytes.TrimSpace(out))
	}
	return dir, os.Rename(jars, dir)
}
