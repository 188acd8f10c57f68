import { rotateRecoveryKey } from '../../recovery-key.ts'
import { readSettings } from '../../settings/rules.ts'
import { type OutputOptions, tell } from '../output.ts'

/**
 * Works on the files of this machine, and asks no service: it is for the day on which the key is lost or known to
 * others.
 */
export const rotateRecoveryKeyCommand = async (options: OutputOptions): Promise<void> => {
  const rotated = await rotateRecoveryKey(readSettings(process.env))
  const { file, secret } = rotated
  tell(
    options,
    rotated,
    file === null ? `The new recovery key, shown only now: ${secret}` : `The new recovery key is in ${file}`,
    'It works once every process of the service was started again, and the old one no more.',
  )
}
