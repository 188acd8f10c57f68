import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { lingeringMax, unwantedBodyBytesMax } from '../../kernel/limits/http.ts'
import { Lingering } from './lingering.ts'

/** A request on a connection of its own, which says that so much will come. */
const request = (bytes: number): IncomingMessage =>
  Object.assign(new IncomingMessage(new Socket()), { headers: { 'content-length': String(bytes) } })

describe('connections that linger', () => {
  const long = unwantedBodyBytesMax + 1

  it('make room when there are too many, those of the network that lingers most', () => {
    const lingering = new Lingering()
    const of = (network: string): Socket => {
      const { socket } = request(long)
      lingering.close(socket, network, null)
      return socket
    }
    const [quiet, other] = [of('quiet'), of('other')]
    const loud = Array.from({ length: lingeringMax + 10 }, () => of('loud'))
    assert.deepEqual([quiet.destroyed, other.destroyed], [false, false])
    assert.deepEqual(
      loud.map((socket) => socket.destroyed),
      loud.map((_, n) => n < 12),
    )
    assert.equal(lingering.size, lingeringMax)
    for (const socket of [quiet, other, ...loud]) socket.destroy()
  })

  it('do not have to make room for the short rests that are passed over, nor those for them', () => {
    const lingering = new Lingering()
    const rests = Array.from({ length: 3 * lingeringMax }, () => request(unwantedBodyBytesMax))
    const refused = request(long)
    lingering.close(refused.socket, 'here', refused)
    for (const each of rests) lingering.passOver(each.socket, 'here', each, () => {})
    assert.ok([refused, ...rests].every(({ socket }) => !socket.destroyed))
    const over = request(long)
    const longRests = Array.from({ length: lingeringMax }, () => request(long))
    for (const each of longRests) lingering.passOver(each.socket, 'here', each, () => {})
    assert.ok(refused.socket.destroyed, 'a long rest is no short one')
    for (const { socket } of [over, ...rests, ...longRests]) socket.destroy()
  })

  it('tell when none is left', async () => {
    const lingering = new Lingering()
    const none = new Promise<void>((resolve) => lingering.onNone(resolve))
    const [short, refused] = [request(9), request(long)]
    let passed = false
    lingering.passOver(short.socket, 'here', short, () => {
      passed = true
    })
    lingering.close(refused.socket, null, refused)
    assert.equal(lingering.size, 2)
    short.push(null)
    refused.socket.destroy()
    await none
    assert.ok(passed)
    short.socket.destroy()
  })
})
