import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { currentPointsVault } from '../../features/operating/backups/points.ts'
import { rehearsalIsDue } from '../../features/operating/backups/rehearsals.ts'
import type { Engines } from '../engines.ts'
import { begunOn, stageIn, takeStage } from './stage.ts'

/** Tries a restore each month, in a process of its own: it takes long, and its memory is its own. */
export const monthlyRehearsal = ({ settings, database, clock, report }: Engines) => {
  const stage = stageIn(settings.dataDir)
  let running: ChildProcess | null = null
  let isStopping = false
  return {
    /** Tells of one that has died, and removes what it left. Starts one where one is due and none runs. */
    async look(): Promise<void> {
      if (running !== null) return
      if ((await begunOn(stage)) !== null) (await takeStage({ database, clock }, stage))?.[Symbol.dispose]()
      if (!settings.backupRehearse) return
      const vault = await currentPointsVault(database.reader)
      if (vault === null || !(await rehearsalIsDue(database.reader, vault, clock.now()))) return
      if (isStopping) return
      const [program = ''] = process.argv.slice(1)
      const child = spawn(process.execPath, [...process.execArgv, program, 'rehearse'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      running = child
      let said = ''
      child.stderr.on('data', (piece: Buffer) => {
        said = `${said}${piece.toString()}`.slice(-1_000)
      })
      const ended = (why: string | null): void => {
        if (running === child && why !== null) report('The monthly rehearsal of a restore failed', new Error(why))
        running = null
      }
      child.once('error', (error) => ended(error.message))
      child.once('exit', (code, signal) => ended(code === 0 || isStopping || signal === 'SIGTERM' ? null : said))
    },
    /** Begins none any more, and waits for the end of one. What it left goes when somebody looks again. */
    async stop(): Promise<void> {
      isStopping = true
      if (running === null) return
      const ended = once(running, 'exit')
      // It has nothing to bring to an end, and may be at work on the event loop for long.
      running.kill('SIGKILL')
      await ended
    },
  }
}
