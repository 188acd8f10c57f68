import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, keyIn, listening, type Program, settingsFor, startSvc } from './processes.ts'

/** `svc up` in an empty folder, which goes with it. */
export interface LoneService extends AsyncDisposable {
  /** Where `data` is, and a test may put files of its own. */
  readonly folder: string
  readonly dataDir: string
  readonly settings: Environment
  readonly program: Program
  readonly address: string
  /** The recovery key, as its file has it now. */
  credential(): string
}

/** Starts it; `name` is in the name of the folder. Fails when it ends instead of listening. */
export const startLoneService = async (name: string, more?: Environment): Promise<LoneService> => {
  const folder = await mkdtemp(join(tmpdir(), `svc-${name}-`))
  const dataDir = join(folder, 'data')
  const settings = settingsFor({ dataDir }, more)
  const program = startSvc(['up'], settings)
  return {
    folder,
    dataDir,
    settings,
    program,
    address: await listening(program),
    credential: () => keyIn(dataDir, 'bootstrap-token.txt'),
    async [Symbol.asyncDispose]() {
      program.child.kill('SIGKILL')
      await program.ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
