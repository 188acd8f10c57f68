import { createSHA256 } from 'hash-wasm'

interface Asked {
  readonly id: string
  readonly file: File
  readonly partBytes: number
}

interface Stop {
  readonly id: string
  readonly stop: true
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Of one part, by the browser itself where the page is one that it trusts. */
const partDigest = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
  if (crypto.subtle !== undefined) return hex(await crypto.subtle.digest('SHA-256', bytes))
  const hash = await createSHA256()
  return hash.update(bytes).digest('hex')
}

/** Files that nobody wants to send any more. */
const stopped = new Set<string>()

/** Reads a file once, for the digests of its parts and that of the whole. */
const digestsOf = async ({ id, file, partBytes }: Asked): Promise<void> => {
  const whole = await createSHA256()
  const parts: string[] = []
  for (let at = 0; at < file.size; at += partBytes) {
    if (stopped.delete(id)) return
    const bytes = new Uint8Array(await file.slice(at, at + partBytes).arrayBuffer())
    whole.update(bytes)
    parts.push(await partDigest(bytes))
  }
  postMessage({ id, sha256: whole.digest('hex'), parts })
}

let last: Promise<void> = Promise.resolve()

// One after another: reading two files at once is slower than reading one.
addEventListener('message', ({ data }: MessageEvent<Asked | Stop>) => {
  if ('stop' in data) {
    stopped.add(data.id)
    return
  }
  stopped.delete(data.id)
  last = last.then(() => digestsOf(data)).catch((error: unknown) => postMessage({ id: data.id, error: String(error) }))
})
