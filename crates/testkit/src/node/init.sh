# First process of a node's private namespaces (mounts, network, processes, host name, IPC). It makes a place in
# which a kubelet feels at home without touching the machine's own, says so by writing its process id, and then
# only reaps. Everything inside ends with it.
#   $1: the node's folder   $2: its name   $3: its address   $4: its control group, RUN/NODE
set -eu
folder=$1 name=$2 address=$3 group=$4

# Before /proc becomes the one of these namespaces: the id by which the machine knows this process.
read -r pid rest </proc/self/stat
mount -t proc proc /proc
mount --make-rshared /          # volumes may ask for mounts to propagate

# Paths that cannot be moved by any setting.
for path in /run/containerd /run/netns /var/lib/cni /var/lib/kubelet /var/log/containers; do
  mkdir -p $path
  mount -t tmpfs tmpfs $path
done
mount --make-shared /run/netns
hostname "$name"

# The kubelet sets these for the whole kernel, unless they are as it wants them: it is shown that they are.
mkdir "$folder/sysctl"
while read -r key value; do
  [ -e "/proc/sys/$key" ] || continue
  file=$folder/sysctl/$(echo "$key" | tr / .)
  echo "$value" >"$file"
  mount --bind "$file" "/proc/sys/$key"
done <<END
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
END

# A bridge without ports stands in for a network card: not every kernel has dummy links. Nobody is at the
# default route's other end, but without a route a service's address would be unreachable before it is translated.
ip link set lo up
ip link add node0 type bridge
ip addr add "$address/24" dev node0
ip link set node0 up
ip route add default via "${address%.*}.254" dev node0

cgroups=/sys/fs/cgroup
if [ -e $cgroups/cgroup.controllers ]; then
  # One tree for all controllers: each level must hand them on to the next.
  at=$cgroups
  for level in $(echo "$group" | tr / ' '); do
    for controller in cpuset cpu memory pids; do echo +$controller >$at/cgroup.subtree_control; done
    at=$at/$level
    mkdir -p "$at"
  done
else
  for controller in $cgroups/*/; do
    [ ! -e "$controller/cgroup.procs" ] || mkdir -p "$controller/$group"
  done
  # A group of processors and memory starts empty, and nothing can run in it.
  for level in "${group%/*}" "$group"; do
    for file in cpuset.cpus cpuset.mems; do
      [ ! -e $cgroups/cpuset/$file ] || cat $cgroups/cpuset/$file >"$cgroups/cpuset/$level/$file"
    done
  done
fi

echo "$pid" >"$folder/init.new"
mv "$folder/init.new" "$folder/init.pid"
while :; do sleep 3600 & wait; done
