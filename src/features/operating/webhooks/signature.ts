import { createHmac } from 'node:crypto'

/**
 * What a receiver checks: of the time and the body as it is sent, by each of the secrets, of which it may know only one
 * while they are being replaced.
 */
export const signature = (secrets: readonly Uint8Array[], timestamp: string, body: string): string =>
  secrets
    .map((secret) => `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`)
    .join(',')
