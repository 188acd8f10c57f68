import type { Captured, CaptureWish } from '../../features/operating/moving/capture.ts'
import { SourceDamaged } from '../../features/operating/moving/capture-blobs.ts'
import { progressTo } from '../../features/operating/moving/progress.ts'
import { BytesMissing } from '../../features/operating/moving/restore-checks.ts'
import { Failure } from '../../kernel/failure.ts'
import { VaultFailure } from '../../ports/vault.ts'
import type { Environment } from '../engines.ts'
import { exportTo, importFrom } from '../moving.ts'
import { translate } from '../translate.ts'
import { withEngines } from './offline.ts'

const progress = () => progressTo((line) => console.error(line))

/** Prints each fault of those errors that carry several; the sentence comes from whoever catches it. */
const naming = async (work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (error instanceof SourceDamaged || error instanceof BytesMissing)
      for (const fault of error.faults) console.error(`damage: ${fault}`)
    if (isFull(error))
      throw new Failure('insufficient_space', 'The disk is full. Make room and go on with the same command.', {
        cause: error,
      })
    throw error
  }
}

/**
 * Whether a folder, the store or the database has no room left. Whoever refused on purpose has said so, and how much is
 * missing.
 */
const isFull = (error: unknown): boolean =>
  (error instanceof VaultFailure && error.trouble === 'full') || translate(error)?.code === 'insufficient_space'

/** Writes the whole catalog, with or without the stored bytes, to a folder, beside a running service. */
export const exportCommand = (
  path: string,
  { withoutBytes = false, refresh = false, verify = false }: Partial<CaptureWish>,
  environment?: Environment,
): Promise<void> =>
  withEngines(
    (engines) =>
      naming(async () => {
        const done = await exportTo(engines, path, { withoutBytes, refresh, verify }, progress())
        const files = withoutBytes
          ? `no bytes of its ${done.blobs} files`
          : `${done.blobs} files with ${done.bytes} bytes (${done.kept} were there already${readAgain(done, verify)})`
        console.log(`Exported ${done.rows} rows and ${files} to ${path}.`)
      }),
    { environment },
  )

/** A share is read each time; that is told when it was asked for, or came to something. */
const readAgain = ({ readAgain, replaced }: Captured, verify: boolean): string =>
  verify || replaced > 0 ? `; ${readAgain} of them read again, ${replaced} damaged and replaced` : ''

/** Puts an export into an empty database and store. Ends with 1 when the doctor finds damage afterwards. */
export const importCommand = (path: string, environment?: Environment): Promise<void> =>
  withEngines(
    (engines) =>
      naming(async () => {
        const { rows, blobs, bytes, findings } = await importFrom(engines, path, progress())
        for (const { kind, text } of findings) console.log(`${kind}: ${text}`)
        const damaged = findings.filter(({ kind }) => kind === 'damage').length
        if (damaged === 0)
          return console.log(`Imported ${rows} rows and ${blobs} files with ${bytes} bytes. svc can start.`)
        console.log(
          `Everything was imported, and ${damaged} things are damaged. Put them right (svc doctor --repair), then run svc import again to finish.`,
        )
        process.exitCode = 1
      }),
    { environment, duringImport: true, begins: true },
  )
