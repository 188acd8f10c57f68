/** `svc export` and `svc import` as they are, but for a fault point (SVC_TEST_DIE_AT) whose reaching is the end. */
import { exportCommand, importCommand } from '../../src/main/commands/moving.ts'
import { realStage, type Stage } from '../../src/main/parts.ts'

const dieAt = process.env['SVC_TEST_DIE_AT']
const stage: Stage = {
  ...realStage,
  reach: (point) => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL')
  },
}
const [, , command, folder = ''] = process.argv
if (command === 'export') await exportCommand(folder, {}, stage)
else await importCommand(folder, stage)
