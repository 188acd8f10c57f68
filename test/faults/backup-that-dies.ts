/**
 * `svc backup run` and `svc restore latest` as they are, but for a fault point whose reaching is the end
 * (SVC_TEST_DIE_AT), by a clock that is so many milliseconds ahead (SVC_TEST_AHEAD).
 */
import { runBackupCommand } from '../../src/main/commands/backup.ts'
import { restoreCommand } from '../../src/main/commands/restore.ts'
import type { Environment } from '../../src/main/engines.ts'

const dieAt = process.env['SVC_TEST_DIE_AT']
const aheadMs = Number(process.env['SVC_TEST_AHEAD'] ?? '0')
const environment: Environment = {
  clock: { now: () => Date.now() + aheadMs },
  reach: (point) => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL')
  },
}
try {
  if (process.argv[2] === 'run') await runBackupCommand(environment)
  else await restoreCommand('latest', {}, environment)
} catch (error) {
  // As the command line says it.
  console.error(`svc: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
