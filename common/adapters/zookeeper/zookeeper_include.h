// The only include of ZooKeeper's C client, whose header produces warnings under our flags.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <zookeeper/zookeeper.h>
#pragma GCC diagnostic pop
