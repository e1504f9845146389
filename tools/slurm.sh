#!/bin/sh
# A throw-away Slurm of one node for the tests: `start FOLDER` prints the path of its slurm.conf
# (SLURM_CONF), `stop FOLDER` ends it and removes the folder. Exit code 77: it cannot run here (not
# installed, Debian: apt-get install slurm-wlm munge; or not root, which its daemons want).
set -eu
what=${1:?start or stop}
folder=${2:?a folder that is not there yet, with a short path}
for command in munged slurmctld slurmd sbatch; do
    [ -x "/usr/sbin/$command" ] || command -v "$command" >/dev/null 2>&1 || {
        echo "Slurm is not installed (apt-get install slurm-wlm munge)" >&2
        exit 77
    }
done
if [ "$(id -u)" != 0 ]; then
    echo "Slurm's daemons want root" >&2
    exit 77
fi
PATH=$PATH:/usr/sbin
SLURM_CONF=$folder/slurm.conf
export SLURM_CONF

configuration() {
    host=$(hostname -s)
    port=$((20000 + $$ % 20000))
    cat <<END
ClusterName=meridian
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.sock
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=tests Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
}

end() {
    for daemon in slurmctld slurmd munged; do
        pid=$(cat "$folder/$daemon.pid" 2>/dev/null) && kill "$pid" 2>/dev/null || true
    done
    rm -rf "$folder"
}

case $what in
start)
    mkdir "$folder" "$folder/state" "$folder/spool"
    (umask 077 && head -c 1024 /dev/urandom >"$folder/key")
    configuration >"$SLURM_CONF"
    munged --force --key-file="$folder/key" --socket="$folder/munge.sock" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
        --seed-file="$folder/seed" >"$folder/log" 2>&1 &&
        slurmctld >>"$folder/log" 2>&1 && slurmd >>"$folder/log" 2>&1 || {
        tail -3 "$folder/log" >&2
        end
        exit 77
    }
    tries=0
    until sinfo -h -o %T 2>/dev/null | grep -q idle; do
        tries=$((tries + 1))
        if [ "$tries" -gt 100 ]; then
            echo "the node of Slurm does not get idle" >&2
            end
            exit 77
        fi
        sleep 0.1
    done
    printf '%s\n' "$SLURM_CONF"
    ;;
stop) end ;;
esac
