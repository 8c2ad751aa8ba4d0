# Scheduler, executor, warden and command line, built as ./dev builds them (docs/docker.md).
FROM debian:bookworm AS build
WORKDIR /src
# This layer is first, because the packages change more rarely than the sources.
COPY dev ./
RUN ./dev packages
COPY . .
RUN ./dev build carillon carillon-scheduler carillon-executor carillon-warden

FROM debian:bookworm-slim
# The libraries that the programs are linked with, and the data files that they read.
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      ca-certificates tzdata \
      libabsl20220623 libcurl4 libfmt9 libgrpc++1.51 libgrpc29 libhttp-parser2.9 libidn2-0 \
      libmariadb3 libmysqlcppconn7v5 libprometheus-cpp-core1.0 libprotobuf32 librdkafka1 libre2-9 libsodium23 libjwt0 \
      libspdlog1.10 libssl3 libyaml-cpp0.7 libzookeeper-mt2 zlib1g \
 && rm -rf /var/lib/apt/lists/*
ARG CARILLON_UID=8640
RUN useradd --uid "$CARILLON_UID" --user-group --no-create-home --home-dir /var/lib/carillon carillon \
 && install -d -m 700 -o carillon -g carillon /var/lib/carillon
COPY --from=build /src/build/dev/bin/carillon /src/build/dev/bin/carillon-* /usr/bin/
COPY deploy/docker/answers deploy/docker/run-executor /usr/bin/
USER carillon
CMD ["carillon", "version"]
