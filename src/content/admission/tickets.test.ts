import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { queueTicketMs } from '../../kernel/limits/downloads.ts'
import { VirtualTime } from '../../kernel/virtual-time.suite.ts'
import { createTickets } from './tickets.ts'

describe('a queue ticket', () => {
  it('is ignored when it is wrong, of another download or caller, or too old', () => {
    const time = new VirtualTime()
    const clock = { now: () => 1_800_000_000_000 + time.now() }
    const tickets = createTickets('secret', clock)
    const since = clock.now() - 5_000
    const ticket = tickets.issue('mine', since)
    assert.equal(tickets.read('mine', ticket), since)
    assert.equal(createTickets('secret', clock).read('mine', ticket), since)
    assert.equal(tickets.read('yours', ticket), null)
    assert.equal(createTickets('another secret', clock).read('mine', ticket), null)
    for (const wrong of ['', 'x', 'x'.repeat(39), 'A'.repeat(39), `${ticket}A`, 'é'.repeat(39)])
      assert.equal(tickets.read('mine', wrong), null, wrong)
    for (let index = 0; index < ticket.length; index += 1) {
      const flipped = `${ticket.slice(0, index)}${ticket[index] === 'A' ? 'B' : 'A'}${ticket.slice(index + 1)}`
      assert.notEqual(tickets.read('mine', flipped), since + 1)
      if (!Buffer.from(flipped, 'base64url').equals(Buffer.from(ticket, 'base64url')))
        assert.equal(tickets.read('mine', flipped), null, `changed at ${index}`)
    }
    time.pass(queueTicketMs)
    assert.equal(tickets.read('mine', ticket), since)
    time.pass(1)
    assert.equal(tickets.read('mine', ticket), null)
  })

  it('makes no wait longer than it was, and lends nobody a time that has not come', () => {
    const clock = { now: () => 1_800_000_000_000 }
    const tickets = createTickets('secret', clock)
    assert.equal(tickets.read('mine', tickets.issue('mine', clock.now() + 60_000)), clock.now())
  })
})
