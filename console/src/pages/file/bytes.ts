import { addressOf } from '../../contract/call.ts'
import { problemOf } from '../../contract/problem.ts'
import { asHolder } from '../../session/holders.ts'

/** More of a text is not looked at. */
export const textBytesMax = 256 * 1024

/** Bytes of a file, for a look: text as text, pictures by a blob, nothing else. */
export const bytesOf = (repository: string, id: string, most: number, signal: AbortSignal): Promise<Blob> =>
  asHolder('getArtifactContent', repository, async (secret) => {
    const answered = await fetch(addressOf('getArtifactContent', { path: { repository, id } }), {
      headers: { authorization: `Bearer ${secret ?? ''}`, range: `bytes=0-${most - 1}`, 'svc-redirect': 'never' },
      credentials: 'omit',
      signal,
    })
    if (!answered.ok) throw problemOf(answered.status, await answered.text())
    return answered.blob()
  })

export const isText = (text: string): boolean => !/[\0\uFFFD]/.test(text.slice(0, 4096))
