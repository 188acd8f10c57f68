import workerUrl from './hash-worker.ts?worker&url'

interface Policy {
  createScriptURL(url: string): string
}

interface Policies {
  createPolicy(name: string, rules: Policy): Policy
}

/** The one door for the address of a script: that of this worker, and no other. */
const ownScript = (url: string): string => {
  const policies: Policies | undefined = Reflect.get(globalThis, 'trustedTypes')
  const rules: Policy = {
    createScriptURL: (asked) => {
      if (asked !== url) throw new TypeError('Not a script of the console')
      return asked
    },
  }
  return policies === undefined ? url : policies.createPolicy('svc-worker', rules).createScriptURL(url)
}

export interface Digests {
  readonly sha256: string
  readonly parts: readonly string[]
}

type Told = { readonly id: string } & (Digests | { readonly error: string })

interface Waiting {
  readonly done: (digests: Digests) => void
  readonly failed: (error: Error) => void
}

let worker: Worker | null = null
const waiting = new Map<string, Waiting>()

const started = (): Worker => {
  if (worker !== null) return worker
  const made = new Worker(ownScript(new URL(workerUrl, document.baseURI).href), { type: 'module' })
  made.onmessage = ({ data }: MessageEvent<Told>) => {
    const one = waiting.get(data.id)
    if (one === undefined) return
    waiting.delete(data.id)
    if ('error' in data) one.failed(new Error(data.error))
    else one.done({ sha256: data.sha256, parts: data.parts })
  }
  worker = made
  return made
}

/** The digests of a file and of its parts, in a thread of its own, for as long as somebody wants them. */
export const digestsOf = (id: string, file: File, partBytes: number, signal: AbortSignal): Promise<Digests> =>
  new Promise((done, failed) => {
    signal.throwIfAborted()
    waiting.set(id, { done, failed })
    started().postMessage({ id, file, partBytes })
    signal.addEventListener('abort', () => {
      if (waiting.delete(id)) started().postMessage({ id, stop: true })
      failed(signal.reason)
    })
  })
