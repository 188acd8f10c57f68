import { type AnyGiven, addressOf, type OperationId } from '../contract/call.ts'
import { operations } from '../contract/generated.ts'
import { Problem, problemOf } from '../contract/problem.ts'
import { asHolder } from '../session/holders.ts'

/** Sends bytes and tells how many went: `fetch` cannot. */
export const sendBytes = (
  id: OperationId,
  repository: string,
  given: AnyGiven & { readonly body: Blob },
  progress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string> => asHolder(id, repository, (secret) => sent(id, given, secret, progress, signal))

const sent = (
  id: OperationId,
  given: AnyGiven & { readonly body: Blob },
  secret: string | null,
  progress: (sent: number) => void,
  signal: AbortSignal,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const [method] = operations[id]
    const request = new XMLHttpRequest()
    request.open(method, addressOf(id, given))
    if (secret !== null) request.setRequestHeader('authorization', `Bearer ${secret}`)
    for (const [name, value] of Object.entries(given.headers ?? {}))
      if (value !== undefined) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => progress(loaded)
    request.onload = () => {
      if (request.status < 300) resolve(request.responseText)
      else reject(problemOf(request.status, request.responseText))
    }
    request.onerror = () => reject(new Problem(0, 'offline', ''))
    request.onabort = () => reject(new DOMException('', 'AbortError'))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(given.body)
  })
