#!/bin/bash
# Sits an exam with ecg_solver; one task of the array asks one shard, all into the same run folder.
# sbatch --array=1-8 launch.sh BENCHMARK RUN [more options of overread run]
#SBATCH --job-name=ecg_solver
#SBATCH --cpus-per-task=4
#SBATCH --gres=gpu:1
#SBATCH --time=08:00:00
set -eu
benchmark=$1 run=$2
shift 2
export HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
shard=${SLURM_ARRAY_TASK_ID:-1}/${SLURM_ARRAY_TASK_COUNT:-1}
overread run "$benchmark" --model ecg_solver --shard "$shard" --out "$run" "$@"
