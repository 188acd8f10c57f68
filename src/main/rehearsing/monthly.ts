import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { currentPointsVault } from '../../features/operating/backups/points.ts'
import { rehearsalIsDue } from '../../features/operating/backups/rehearsals.ts'
import type { Engines } from '../engines.ts'

/** Tries a restore each month, in a process of its own: it takes long, and its memory is its own. */
export const monthlyRehearsal = ({ settings, database, clock, report }: Engines) => {
  let running: ChildProcess | null = null
  let isStopping = false
  return {
    /** Starts one where one is due and none runs. */
    async look(): Promise<void> {
      if (!settings.backupRehearse || running !== null) return
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
    /** Begins none any more, and waits for the end of one. What it left in its folder goes when the next one begins. */
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
