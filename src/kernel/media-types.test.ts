import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mediaTypeMaxCharacters } from './limits/catalog.ts'
import { saidMediaType, servedMediaType } from './media-types.ts'

describe('what a file is said to be', () => {
  it('is kept as it was said, and where nothing or a form is said, nothing', () => {
    for (const said of ['text/plain', 'Text/Plain; charset="utf-8"', 'image/svg+xml', 'application/vnd.a.b+json;x=1;'])
      assert.deepEqual(saidMediaType(said), { kept: said })
    assert.deepEqual(saidMediaType(' text/plain '), { kept: 'text/plain' })
    for (const nothing of [
      undefined,
      '',
      ' ',
      'application/x-www-form-urlencoded',
      'application/X-WWW-form-urlencoded;a=b',
    ])
      assert.deepEqual(saidMediaType(nothing), { kept: null })
  })

  it('is malformed for anything that is no media type', () => {
    for (const bad of ['text', '/', 'text/', '/plain', 'a b/c', 'text/plain, text/html', 'text/plain; charset', 'é/a'])
      assert.equal(saidMediaType(bad), 'malformed', bad)
    for (const bad of [
      'text/plain; a="b',
      'text/plain;a="\n"',
      'text/plain\r\nx: y',
      `a/${'b'.repeat(mediaTypeMaxCharacters)}`,
    ])
      assert.equal(saidMediaType(bad), 'malformed', bad)
  })

  it('is read in a time as long as the text is', () => {
    const begun = performance.now()
    for (const piece of [';', ' ;', ' ', '; a=b', '; a="\\"'])
      saidMediaType(`a/b${piece.repeat(Math.floor(250 / piece.length))}(`)
    assert.ok(performance.now() - begun < 1000)
  })
})

describe('what a file goes out as', () => {
  it('is what it was said to be where a browser runs nothing of it', () => {
    for (const harmless of [
      'text/plain; charset=utf-8',
      'Text/CSV',
      'image/png',
      'video/mp4',
      'font/woff2',
      'application/json',
      'application/vnd.oci.image.manifest.v1+json',
      'application/zip',
      'application/x-tar',
      'application/gzip',
      'application/java-archive',
      'application/vnd.debian.binary-package',
      'application/pdf',
    ])
      assert.equal(servedMediaType(harmless), harmless)
  })

  it('is bytes where it does, where nobody knows, and where nothing was said', () => {
    for (const other of [
      null,
      'text/html',
      'TEXT/HTML; charset=utf-7',
      ' text/html',
      'application/xhtml+xml',
      'image/svg+xml',
      'image/SVG+XML;a=b',
      'application/xml',
      'text/xml',
      'text/xsl',
      'application/rss+xml',
      'text/javascript',
      'application/javascript',
      'text/css',
      'application/wasm',
      'application/x-shockwave-flash',
      'application/vnd.adobe.flash.movie',
      'application/vnd.wap.xhtml+xml',
      'application/vnd.mozilla.xul+xml',
      'multipart/x-mixed-replace; boundary=a',
      'message/rfc822',
      'text/plain\r\nset-cookie: a=b',
      'text/plain, text/html',
      'x/y',
    ])
      assert.equal(servedMediaType(other), 'application/octet-stream', String(other))
  })
})
