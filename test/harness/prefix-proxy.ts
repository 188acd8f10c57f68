import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that gives a service a path of its own, as one with several services behind it does. */
export interface PrefixProxy extends AsyncDisposable {
  readonly port: number
  /** Where the service is; known once it was started with the address of the proxy. */
  leadTo(address: string): void
}

export const startPrefixProxy = async (prefix: string): Promise<PrefixProxy> => {
  let target = new URL('http://127.0.0.1:0')
  const server = createServer((asked, answer) => {
    const { method, url = '/', headers } = asked
    if (!url.startsWith(`${prefix}/`)) {
      answer.writeHead(404).end()
      return
    }
    const passed = request(
      { host: target.hostname, port: target.port, method, path: url.slice(prefix.length), headers },
      (told) => {
        answer.writeHead(told.statusCode ?? 502, told.headers)
        told.pipe(answer)
      },
    )
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    leadTo: (address) => {
      target = new URL(address)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
