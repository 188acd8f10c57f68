import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { type ConsoleFiles, consoleFile } from './console.ts'
import * as operations from './operations.ts'

export const consoleHandlers = ({ consoleFiles }: { readonly consoleFiles: ConsoleFiles | null }): BoundOperation[] => [
  handle(operations.getConsole, ({ path, headers, request: { baseUrl } }) =>
    consoleFile(consoleFiles, { ...path, baseUrl, ...asked(headers) }),
  ),
  handle(operations.findConsole, ({ headers, request: { baseUrl } }) =>
    consoleFile(consoleFiles, { path: '', baseUrl, ...asked(headers) }),
  ),
]

const asked = (headers: Readonly<Record<string, string>>) => ({
  acceptEncoding: headers['accept-encoding'],
  ifNoneMatch: headers['if-none-match'],
})
