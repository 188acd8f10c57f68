import { serviceAddress } from '../contract/call.ts'

/** The address of the service as somebody types it, without a slash at its end. */
const baseUrl = (): string => serviceAddress().href.replace(/\/$/, '')

/** Stores a file by its path. */
export const rawCommand = (repository: string, folder: string): string =>
  [
    'export SVC_TOKEN=…',
    `curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T hello.txt \\`,
    `  ${baseUrl()}/api/v1/repositories/${repository}/raw/${folder.split('/').map(encodeURIComponent).join('/')}hello.txt`,
  ].join('\n')
