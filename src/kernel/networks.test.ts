import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { networkOf, wideNetworkOf } from './networks.ts'

describe('networkOf', () => {
  it('leaves an IPv4 address as it is', () => {
    assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
    assert.equal(networkOf(''), '')
  })

  it('is the same for all addresses of 64 bits, however they are written, and for no other', () => {
    for (const address of [
      '2001:db8:0:7::1',
      '2001:db8:0:7:ffff::',
      '2001:0DB8::7:1:2:3:4',
      '2001:db8:0:7:1:2:3:4%eth0',
    ])
      assert.equal(networkOf(address), '2001:db8:0:7::/64', address)
    assert.equal(networkOf('2001:db8:0:8::1'), '2001:db8:0:8::/64')
    assert.equal(networkOf('::1'), '0:0:0:0::/64')
    assert.equal(networkOf('fe80::1'), 'fe80:0:0:0::/64')
  })
})

describe('wideNetworkOf', () => {
  it('is the same for the addresses that one customer may have, and for no other', () => {
    assert.equal(wideNetworkOf('192.0.2.7'), wideNetworkOf('192.0.2.255'))
    assert.notEqual(wideNetworkOf('192.0.2.7'), wideNetworkOf('192.0.3.7'))
    assert.equal(wideNetworkOf('2001:db8:1:7::1'), wideNetworkOf('2001:0DB8:1:ffff::'))
    assert.notEqual(wideNetworkOf('2001:db8:1::'), wideNetworkOf('2001:db8:2::'))
    for (const none of ['', 'recovery']) assert.equal(wideNetworkOf(none), none)
  })
})
