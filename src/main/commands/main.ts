import cluster from 'node:cluster'
import { Failure } from '../../kernel/failure.ts'
import { shown, shownLines } from '../../kernel/shown.ts'
import { CommandFailed } from '../client/command-failed.ts'
import { keepFilesPrivate } from '../private-files.ts'
import { SettingsInvalid } from '../settings/rules.ts'
import { commandLine } from './program.ts'

/** Does what the command line says. A command that cannot ends with a sentence, not a trace. */
export const main = async (argv: readonly string[]): Promise<void> => {
  keepFilesPrivate()
  try {
    await commandLine().parseAsync([...argv])
  } catch (error) {
    process.exitCode = error instanceof CommandFailed ? error.exitCode : 1
    if (error instanceof SettingsInvalid) for (const fault of error.faults) console.error(`svc: ${fault}`)
    else if (error instanceof Failure) console.error(`svc: ${error.message}`)
    else if (error instanceof CommandFailed) console.error(`svc: ${shown(error.message)}`)
    else console.error(`svc: ${shownLines(error instanceof Error ? error.message : String(error))}`)
    // One of several gateways: the channel to the one that started it would keep it alive.
    if (cluster.isWorker) process.exit()
  }
}
