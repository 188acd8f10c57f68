import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../kernel/clock.ts'
import { queueTicketMs } from '../../kernel/limits/downloads.ts'

/**
 * A ticket says since when a download waits. It is stored nowhere: any process of the service believes it, also after a
 * restart. It is worth a place in the holder's own line and nothing else.
 *
 * Version (1 byte), begin of the wait and time of issue in milliseconds (6 each), authentication code (16), in
 * base64url: 39 characters of the 80 that a client has to keep.
 */
export interface Tickets {
  issue(download: string, sinceMs: number): string
  /** Since when the download waits. Null for a ticket that is wrong, too old, or of another download: it is ignored. */
  read(download: string, ticket: string): number | null
}

const version = 1
const issuedAt = 7
const codeAt = 13
const codeBytes = 16
const form = /^[A-Za-z0-9_-]{39}$/

/** `download` tells downloads apart: who, which, and of what. */
export const createTickets = (secret: string, clock: Clock): Tickets => {
  const code = (head: Uint8Array, download: string): Uint8Array =>
    createHmac('sha256', secret)
      .update('svc queue ticket\0')
      .update(head)
      .update(download)
      .digest()
      .subarray(0, codeBytes)
  return {
    issue(download, sinceMs) {
      const ticket = Buffer.alloc(codeAt + codeBytes)
      ticket.writeUInt8(version)
      ticket.writeUIntBE(Math.max(0, Math.trunc(sinceMs)), 1, issuedAt - 1)
      ticket.writeUIntBE(clock.now(), issuedAt, codeAt - issuedAt)
      ticket.set(code(ticket.subarray(0, codeAt), download), codeAt)
      return ticket.toString('base64url')
    },
    read(download, text) {
      if (!form.test(text)) return null
      const ticket = Buffer.from(text, 'base64url')
      const head = ticket.subarray(0, codeAt)
      if (head[0] !== version || !timingSafeEqual(ticket.subarray(codeAt), code(head, download))) return null
      const ageMs = clock.now() - head.readUIntBE(issuedAt, codeAt - issuedAt)
      // Clocks of several machines differ a little; a ticket from tomorrow is none.
      if (ageMs > queueTicketMs || ageMs < -queueTicketMs) return null
      return Math.min(clock.now(), head.readUIntBE(1, issuedAt - 1))
    },
  }
}
