// The only way to ZooKeeper's C client: its header warns under our flags.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <zookeeper/zookeeper.h>
#pragma GCC diagnostic pop
