/* Sweeps as job arrays of Slurm. */
#ifndef MRD_CLI_SLURM_H
#define MRD_CLI_SLURM_H

#include "base/text.h"
#include "cli/cli.h"

/* Tasks of one array at most: below MaxArraySize of a Slurm that nobody tuned (1001). A sweep of
 * more runs gives each task several. */
#define MRD__SLURM_TASKS_MAX 1000

/* Write DATA/slurm/NAME/spec.json and job.sh and submit the latter with sbatch; prints the job's
 * number. The store is open, --data or --store given. Takes --partition, --max-jobs, --jobs. Where
 * sbatch is missing or refuses, nothing stays behind. Returns the exit code, the error said. */
int mrd__slurm_submit(const mrd__cli *cli, const mrd__buf *spec);

#endif
