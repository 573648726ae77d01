// Flightdeck is a terminal dashboard for Apache Kafka: consumer groups and share groups, live.
package main

func main() {}
