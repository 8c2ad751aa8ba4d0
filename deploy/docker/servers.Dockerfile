# The servers of the cluster: target mariadb, and target java for Kafka and ZooKeeper.
FROM debian:bookworm AS jars
WORKDIR /src
COPY dev ./
COPY deploy/servers/pom.xml deploy/servers/
RUN ./dev jars

FROM debian:bookworm-slim AS base
ARG CARILLON_UID=8640
RUN useradd --uid "$CARILLON_UID" --user-group --no-create-home --home-dir /var/lib/carillon carillon \
 && install -d -m 700 -o carillon -g carillon /var/lib/carillon
COPY deploy/docker/answers deploy/docker/start-server /usr/bin/
ENTRYPOINT ["start-server"]

FROM base AS mariadb
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      mariadb-server-core mariadb-client \
 && rm -rf /var/lib/apt/lists/*
COPY deploy/servers/mariadbd.cnf /etc/carillon/
USER carillon
CMD ["mariadb"]

FROM base AS java
# The set-up of the JRE creates links to manual pages in this directory, which may be missing.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/*
COPY --from=jars /src/build/jars/*.jar /usr/share/carillon/jars/
COPY deploy/servers/java.options deploy/servers/kafka.properties deploy/servers/logback.xml \
     deploy/servers/zoo.cfg /etc/carillon/
USER carillon
CMD ["kafka"]
