/**
 * `svc backup run`, `svc restore latest`, `svc restore latest --only one --into <name>`, `svc rehearse` and `svc scrub`
 * as they are, but for a fault point whose reaching is the end (SVC_TEST_DIE_AT), by a clock that is so many
 * milliseconds ahead (SVC_TEST_AHEAD).
 */
import { runBackupCommand } from '../../src/main/commands/backup.ts'
import { rehearseCommand } from '../../src/main/commands/rehearse.ts'
import { restoreCommand, restoreRepositoryCommand } from '../../src/main/commands/restore.ts'
import { scrub } from '../../src/main/commands/scrub.ts'
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
  const [command, into] = process.argv.slice(2)
  if (command === 'run') await runBackupCommand(environment)
  else if (command === 'rehearse') await rehearseCommand('latest', {}, environment)
  else if (command === 'scrub') await scrub({ rate: 1_000 }, environment)
  else if (into !== undefined) await restoreRepositoryCommand('latest', 'one', into, environment)
  else await restoreCommand('latest', {}, environment)
} catch (error) {
  // As the command line says it.
  console.error(`svc: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
