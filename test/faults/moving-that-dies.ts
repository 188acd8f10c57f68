/**
 * `svc export` and `svc import` as they are, but for a fault point whose reaching is the end (SVC_TEST_DIE_AT), or
 * fills up (SVC_TEST_FILL_AT) a small disk (SVC_TEST_DISK).
 */
import { exportCommand, importCommand } from '../../src/main/commands/moving.ts'
import { type Environment, realEnvironment } from '../../src/main/engines.ts'
import { fillDisk } from './small-disk.ts'

const dieAt = process.env['SVC_TEST_DIE_AT']
const fillAt = process.env['SVC_TEST_FILL_AT']
const environment: Environment = {
  ...realEnvironment,
  reach: (point) => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL')
    if (point === fillAt) fillDisk(process.env['SVC_TEST_DISK'] ?? '')
  },
}
const [, , command, folder = ''] = process.argv
try {
  if (command === 'export') await exportCommand(folder, {}, environment)
  else await importCommand(folder, environment)
} catch (error) {
  // As the command line says it.
  console.error(`svc: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
