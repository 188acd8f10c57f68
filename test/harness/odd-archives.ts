import { deflateRawSync } from 'node:zlib'
import { archiveNameBytesMax, packageManifestBytesMax } from '../../src/kernel/limits/packages.ts'
import { extraField, unixMode, wide, type ZipEnd, type ZipEntry, zip } from './zip.ts'

export const manifestText = JSON.stringify({ name: 'thing', version: '1.0.0' })
export const manifest: ZipEntry = { name: 'upack.json', content: manifestText, deflate: true }
export const file: ZipEntry = { name: 'package/a.txt', content: 'aaaa' }

/** An archive that is refused. */
export interface RefusedArchive {
  readonly bytes: () => Uint8Array
  /** What the answer says; the entry that it names. */
  readonly says: RegExp
  readonly entry?: string
}

const whole = (says: RegExp, bytes: () => Uint8Array): RefusedArchive => ({ bytes, says })
const withEntry = (says: RegExp, entry: ZipEntry): RefusedArchive => ({
  bytes: () => zip([manifest, entry]),
  says,
  // What is no text is shown as in code page 437.
  ...(typeof entry.name === 'string' ? { entry: entry.name } : {}),
})
const named = (name: string, says: RegExp): RefusedArchive => withEntry(says, { name, content: 'x' })
const withManifest = (
  says: RegExp,
  change: Partial<ZipEntry>,
  others: readonly ZipEntry[] = [file],
): RefusedArchive => ({
  bytes: () => zip([{ ...manifest, ...change }, ...others]),
  says,
  entry: 'upack.json',
})
const withEnd = (says: RegExp, end: ZipEnd, entries: readonly ZipEntry[] = [manifest, file]): RefusedArchive =>
  whole(says, () => zip(entries, end))
const saying = (says: RegExp, content: string | Uint8Array): RefusedArchive =>
  whole(says, () => zip([{ ...manifest, content }, file]))
const fields = (says: RegExp, value: object): RefusedArchive =>
  saying(says, JSON.stringify({ name: 'thing', version: '1.0.0', ...value }))

const noEntry = /followed by \d+ bytes that belong to no entry/
const unlisted: ZipEntry = { name: '../evil', content: Buffer.alloc(65_536) }

/** What each is refused for, and the archive. */
export const refusedArchives: Record<string, RefusedArchive> = {
  // Paths
  'a path that leads out': named('package/../../evil', /leads out/),
  'a path that leads out at once': named('../evil', /leads out/),
  'a path that ends above': named('package/..', /leads out/),
  'a folder above': named('package/../', /leads out/),
  'an absolute path': named('/etc/passwd', /absolute/),
  'a drive path': named('C:/windows/evil', /drive letter/),
  'a path relative to a drive': named('c:evil', /drive letter/),
  'a backslash': named('package\\evil', /backslash/),
  'a path that leads out with backslashes': named('..\\..\\evil', /backslash/),
  'a network path': named('\\\\host\\share\\evil', /backslash/),
  'a doubled slash': named('package//evil', /empty segment/),
  'a single dot': named('package/./evil', /dots and blanks/),
  'dots and a blank, which Windows takes for two dots': named('package/.. /evil', /dots and blanks/),
  'three dots': named('.../evil', /dots and blanks/),
  'a name of nothing': withEntry(/no name/, { name: '' }),
  'a NUL in a name': named('package/evil\0.txt', /control character/),
  'a line break in a name': named('package/evil\n.txt', /control character/),
  'a name that is no UTF-8 and says so': withEntry(/not the UTF-8/, {
    name: Buffer.from([0x70, 0xff, 0xfe]),
    listed: { flags: 0x800 },
  }),
  'a name in overlong UTF-8': withEntry(/not the UTF-8/, {
    name: Buffer.from([0x2e, 0x2e, 0xc0, 0xaf, 0x65]),
    listed: { flags: 0x800 },
  }),
  'a name that is too long': whole(/name has/, () =>
    zip([manifest, { name: `package/${'n'.repeat(archiveNameBytesMax)}` }]),
  ),
  'a second name in an extra field': withEntry(/second name/, {
    name: 'package/good',
    listed: { extra: extraField(0x7075, Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), Buffer.from('../evil')])) },
  }),
  // What cannot stand beside each other
  'a name twice': named('upack.json', /twice/),
  'a name twice but for case': named('UPack.JSON', /twice/),
  'a name twice but for the case of an accent': whole(/twice/, () =>
    zip([manifest, { name: 'package/É' }, { name: 'package/é' }]),
  ),
  'a name twice in two forms of an accent': whole(/twice/, () =>
    zip([manifest, { name: 'package/\u00e9' }, { name: 'package/e\u0301' }]),
  ),
  'a folder twice': whole(/twice/, () => zip([manifest, { name: 'package/' }, { name: 'Package/' }])),
  'a file that is a folder too': whole(/twice|file and a folder/, () =>
    zip([manifest, { name: 'package/x' }, { name: 'package/x/' }]),
  ),
  'a folder that is a file too': whole(/file and a folder/, () =>
    zip([manifest, file, { name: 'Package', content: 'x' }]),
  ),
  'a file in a file': whole(/folder that is a file/, () =>
    zip([manifest, { name: 'package/x', content: 'x' }, { name: 'package/X/y', content: 'y' }]),
  ),
  'a file in the manifest': whole(/folder that is a file/, () =>
    zip([manifest, { name: 'upack.json/x', content: 'x' }]),
  ),
  // Kinds of files
  'a symbolic link': withEntry(/no plain file/, { name: 'package/l', content: '/etc', listed: unixMode(0o120777) }),
  'a symbolic link that Windows claims to have made': withEntry(/no plain file/, {
    name: 'package/l',
    content: '/etc',
    listed: { ...unixMode(0o120777), madeBy: 20 },
  }),
  'a manifest that is a symbolic link': withManifest(/no plain file/, { listed: unixMode(0o120777) }),
  'a block device': withEntry(/no plain file/, { name: 'package/d', listed: unixMode(0o060666) }),
  'a character device': withEntry(/no plain file/, { name: 'package/d', listed: unixMode(0o020666) }),
  'a pipe': withEntry(/no plain file/, { name: 'package/p', listed: unixMode(0o010666) }),
  'a socket': withEntry(/no plain file/, { name: 'package/s', listed: unixMode(0o140666) }),
  'a junction of Windows': withEntry(/no plain file/, { name: 'package/j', listed: { attributes: 0x400 } }),
  'a folder with content': withEntry(/folder and a file/, { name: 'package/f/', content: 'x' }),
  'a file that says it is a folder': withEntry(/folder and a file/, { name: 'package/f', listed: unixMode(0o040755) }),
  // Encryption, methods, sizes
  'an encrypted file': withEntry(/encrypted/, { ...file, name: 'package/e', listed: { flags: 1 } }),
  'an encrypted manifest': withManifest(/encrypted/, { listed: { flags: 1 } }),
  'strong encryption': whole(/encrypt/, () => zip([manifest, { ...file, listed: { flags: 0x41 } }])),
  'hidden headers': withEntry(/encrypted/, { ...file, name: 'package/e', listed: { flags: 0x2000 } }),
  'a patch of another file': withEntry(/patch/, { ...file, name: 'package/e', listed: { flags: 0x20 } }),
  'a method that few can read': withEntry(/method 14/, { ...file, name: 'package/e', listed: { method: 14 } }),
  'a manifest by a method that few can read': withManifest(/method 93/, {
    listed: { method: 93 },
    local: { method: 93 },
  }),
  'a stored file of two sizes': withEntry(/two different sizes/, {
    name: 'package/s',
    content: 'xx',
    listed: { size: 3 },
  }),
  'a file that grows beyond what is possible': withEntry(/impossible/, {
    name: 'package/bomb',
    content: 'x',
    deflate: true,
    listed: { size: 0x7fffffff },
  }),
  'several ZIP64 fields': withEntry(/several ZIP64/, {
    name: 'package/z',
    content: 'x',
    listed: { extra: Buffer.concat([extraField(1, wide(1n)), extraField(1, wide(2n))]) },
  }),
  'a size beyond all numbers': withEntry(/impossible/, {
    name: 'package/z',
    content: 'x',
    deflate: true,
    listed: { size: 0xffffffff, compressedSize: 0xffffffff, extra: extraField(1, wide(2n ** 63n, 2n ** 62n)) },
  }),
  'a ZIP64 field without its value': whole(/zip64/i, () =>
    zip([manifest, { ...file, listed: { size: 0xffffffff, extra: extraField(1, wide()) } }]),
  ),
  'an extra field that is longer than it can be': whole(/extra field/, () =>
    zip([manifest, { ...file, listed: { extra: Buffer.from([1, 0, 200, 0, 1]) } }]),
  ),
  // Places
  'files that share their bytes': whole(/overlaps/, () =>
    zip([manifest, file, { name: 'package/b.txt', content: 'aaaa', where: 'listed', listed: { offset: 0 } }]),
  ),
  'a file that is not in the list, between others that are': {
    ...whole(noEntry, () => zip([manifest, { ...unlisted, where: 'local' }, file])),
    entry: 'upack.json',
  },
  'a file that is not in the list, before it': {
    ...whole(noEntry, () => zip([manifest, file, { ...unlisted, where: 'local' }])),
    entry: 'package/a.txt',
  },
  'a manifest within another file': whole(/overlaps/, () => {
    const inner = zip([{ ...manifest, deflate: false }])
    const offset = 30 + 'package/outer'.length
    return zip([
      { name: 'package/outer', content: inner },
      { ...manifest, deflate: false, where: 'listed', listed: { offset } },
    ])
  }),
  'a file that begins in the directory': withEntry(/directory/, {
    ...file,
    name: 'package/z',
    where: 'listed',
    listed: { offset: 200 },
  }),
  'a file beyond the end': whole(/directory|truncated/, () =>
    zip([manifest, { ...file, listed: { offset: 0xfffffff0 } }]),
  ),
  'a file that is longer than the archive': withEntry(/directory/, {
    name: 'package/z',
    content: 'x',
    listed: { size: 100_000, compressedSize: 100_000 },
  }),
  'a manifest that reaches into the next file': withManifest(/overlaps|described/, {
    listed: { compressedSize: 90 },
    local: { compressedSize: 90 },
  }),
  // The manifest before its data and in the directory
  'a manifest with another name before its data': withManifest(/described differently/, {
    local: { name: 'upack.jsom' },
  }),
  'a manifest with another method before its data': withManifest(/described differently/, { local: { method: 0 } }),
  'a manifest with another size before its data': withManifest(/described differently/, { local: { size: 1 } }),
  'a manifest with another checksum before its data': withManifest(/described differently/, { local: { crc: 1 } }),
  'a manifest of which one size follows its data and another is wrong': withManifest(/described differently/, {
    follows: true,
    local: { size: 1 },
  }),
  'a manifest encrypted only before its data': withManifest(/described differently/, { local: { flags: 1 } }),
  'a manifest without a header': whole(/signature/, () =>
    zip([{ ...manifest, local: { signature: 0x12345678 } }, file]),
  ),
  'a manifest with another checksum': withManifest(/checksum/, { listed: { crc: 1 }, local: { crc: 1 } }),
  'a manifest that is shorter than it says': withManifest(/bytes/, { listed: { size: 500 }, local: { size: 500 } }),
  'a manifest that is longer than it says': withManifest(/bytes/, { listed: { size: 3 }, local: { size: 3 } }),
  'a manifest that is not compressed by what it says': withManifest(/decompressed|bytes/, {
    stored: Buffer.from('no deflate at all'),
  }),
  'a manifest with data behind its own': withManifest(/data behind/, {
    stored: Buffer.concat([deflateRawSync(manifestText), Buffer.from('more')]),
  }),
  'a manifest that was cut off': withManifest(/decompressed/, { stored: deflateRawSync(manifestText).subarray(0, 10) }),
  'a manifest that says it is too large': withManifest(/more than/, {
    deflate: false,
    content: Buffer.alloc(packageManifestBytesMax + 1, ' '),
  }),
  'a manifest that becomes too large': withManifest(/more than/, {
    stored: deflateRawSync(Buffer.alloc(packageManifestBytesMax * 16, ' ')),
    listed: { size: 4000 },
    local: { size: 4000 },
  }),
  // The end of the archive
  nothing: whole(/too short/, () => new Uint8Array()),
  'a few bytes': whole(/too short/, () => Buffer.from('PK')),
  'no archive': whole(/no end record/, () => Buffer.alloc(5000, 'x')),
  'an empty archive': withEnd(/empty/, {}, []),
  'an archive without end': withEnd(/no end record/, { noEnd: true }),
  'an archive cut off by a byte': whole(/end with the file|no end record/, () => zip([manifest, file]).subarray(0, -1)),
  'the second half of an archive': whole(/beyond|truncated|offsets/, () => zip([manifest, file]).subarray(60)),
  'data behind the end': withEnd(/end with the file/, { suffix: Buffer.from('more') }),
  'data before the beginning': withEnd(/data before it/, { prefix: Buffer.from('#!/bin/sh\n') }),
  'data before the beginning that nobody counted': whole(/offsets/, () =>
    Buffer.concat([Buffer.from('MZ'), zip([manifest, file])]),
  ),
  'data before the end': withEnd(/offsets do not fit/, { beforeEnd: Buffer.from('more') }),
  'several ends': whole(/several end records|end with the file/, () =>
    zip([manifest, file], { comment: zip([manifest]) }),
  ),
  'an end whose comment holds another': whole(/several end records|end with the file/, () => {
    const inner = zip([{ ...manifest, content: '{}' }])
    return zip([manifest, file], { comment: inner.subarray(inner.lastIndexOf(Buffer.from('PK\x05\x06'))) })
  }),
  'fewer entries than there are': withEnd(/fewer entries/, { entries: 1 }),
  'more entries than there are': withEnd(/signature|more entries|truncated/, { entries: 3 }),
  'two counts of entries': withEnd(/two different ways/, { entriesHere: 1, entries: 2 }),
  'a directory that is too short': withEnd(/offsets do not fit/, { directoryBytes: 50 }),
  'a directory that is too long': withEnd(/beyond its place/, { directoryBytes: 5000 }),
  'a directory elsewhere': withEnd(/offsets do not fit/, { directoryOffset: 0 }),
  'an archive in several files': withEnd(/several files/, { disk: 1 }),
  // ZIP64
  'a missing ZIP64 record': withEnd(/missing/, { saturated: true }),
  'two end records that contradict each other': withEnd(/contradict/, { large: { entries: 1n } }),
  'two end records with other offsets': withEnd(/contradict/, { large: { directoryOffset: 0n } }),
  'too many entries': withEnd(/at most/, { saturated: true, large: { entries: 10n ** 9n } }),
  'a directory that is too large': withEnd(/beyond|offsets/, {
    saturated: true,
    large: { directoryBytes: 10n ** 15n },
  }),
  'a ZIP64 record beyond all numbers': withEnd(/impossible place/, {
    saturated: true,
    large: { directoryOffset: 2n ** 64n - 1n },
  }),
  'a ZIP64 record elsewhere': withEnd(/leads to something else|wrong length/, { saturated: true, large: { at: 0n } }),
  'a ZIP64 record behind the end': withEnd(/leads nowhere/, { saturated: true, large: { at: 1_000_000n } }),
  'a ZIP64 record of the wrong length': withEnd(/wrong length/, { saturated: true, large: { recordBytes: 45n } }),
  'a ZIP64 record that is none': withEnd(/something else/, { saturated: true, large: { signature: 1 } }),
  'a ZIP64 archive in several files': withEnd(/several files/, { saturated: true, large: { disks: 2 } }),
  // The manifest
  'no manifest': whole(/no upack\.json/, () => zip([file])),
  'a manifest in a folder': whole(/no upack\.json/, () => zip([{ ...manifest, name: 'package/upack.json' }])),
  'a manifest of another case': whole(/no upack\.json/, () => zip([{ ...manifest, name: 'Upack.json' }])),
  'a manifest that only stands before data': whole(/no upack\.json/, () =>
    zip([file, { ...manifest, where: 'local' }]),
  ),
  'an empty manifest': saying(/must be JSON/, ''),
  'a manifest that is no JSON': saying(/must be JSON/, '{"name": "thing",}'),
  'a manifest in UTF-16': saying(
    /must be UTF-8/,
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(manifestText, 'utf16le')]),
  ),
  'a manifest that is no UTF-8': saying(/must be UTF-8/, Buffer.from('{"name":"\xff"}', 'latin1')),
  'a manifest that is a list': saying(/JSON object/, `[${manifestText}]`),
  'a manifest that is a word': saying(/JSON object/, '"thing"'),
  'a manifest that is null': saying(/JSON object/, 'null'),
  'a manifest with a key twice': saying(/"name" twice/, '{"name":"a","version":"1.0.0","name":"b"}'),
  'a manifest with a key twice, once in other letters': saying(
    /"name" twice/,
    '{"name":"a","version":"1.0.0","n\\u0061me":"b"}',
  ),
  'a manifest with a key twice further down': saying(
    /"b" twice/,
    '{"name":"a","version":"1.0.0","x":[{"a":"{","b":1,"b":2}]}',
  ),
  'a manifest that reaches for prototypes': saying(/__proto__/, '{"name":"a","version":"1.0.0","x":{"__proto__":{}}}'),
  'a manifest that is nested too deep': saying(
    /nested/,
    `{"name":"a","version":"1.0.0","x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  ),
  'a manifest without name': fields(/name is missing/, { name: undefined }),
  'a manifest whose name is a number': fields(/name must be text/, { name: 1 }),
  'a manifest without version': fields(/version is missing/, { version: undefined }),
}
for (const name of ['', 'a b', 'a/b', 'ä', '..', 'n'.repeat(129), 'a\u0000b', '__proto__/']) {
  refusedArchives[`the name ${JSON.stringify(name.slice(0, 20))}`] = fields(/\/name must be/, { name })
}
for (const group of ['/a', 'a/', 'a//b', '../a', 'a/..', 'a b', 'g'.repeat(129), 'a\\b'])
  refusedArchives[`the group ${JSON.stringify(group.slice(0, 20))}`] = fields(/\/group must have/, { group })
for (const version of [
  '',
  '1',
  '1.0',
  'v1.0.0',
  '1.0.0.0',
  '01.0.0',
  '1.0.0-01',
  '1.0.0-',
  '1.0.0+',
  ' 1.0.0',
  '9007199254740992.0.0',
  `1.0.0-${'a'.repeat(251)}`,
])
  refusedArchives[`the version ${JSON.stringify(version.slice(0, 20))}`] = fields(/\/version must be/, { version })

/** What is odd in an archive that is one. */
export const oddArchives: Record<string, () => Uint8Array> = {
  'a stored manifest': () => zip([{ ...manifest, deflate: false }, file]),
  'a manifest that is the last': () => zip([{ name: 'package/' }, file, manifest]),
  'sizes that follow the data': () =>
    zip([
      { ...manifest, follows: true },
      { ...file, follows: true },
    ]),
  'one size before the data and all of them behind it': () =>
    zip([{ ...manifest, follows: true, local: { size: Buffer.byteLength(manifestText) } }, file]),
  'as much as a header may have before its data, and sizes behind it': () =>
    zip([
      manifest,
      { ...file, follows: true, local: { extra: extraField(0xd935, Buffer.alloc(65_531)) } },
      { name: 'package/z' },
    ]),
  'a comment': () => zip([manifest, file], { comment: Buffer.from('made by hand') }),
  'a ZIP64 end': () => zip([manifest, file], { large: {}, saturated: true }),
  'a ZIP64 end beside a plain one': () => zip([manifest, file], { large: {} }),
  'an archive within the archive': () => zip([manifest, { name: 'package/inner.zip', content: zip([manifest]) }]),
  'a byte order mark': () => zip([{ ...manifest, content: `\ufeff${manifestText}` }, file]),
  'names in many scripts': () => zip([manifest, { name: 'package/日本語.txt' }, { name: 'package/ñandú' }]),
  'a name in an old code page': () => zip([manifest, { name: Buffer.from([0x70, 0x82, 0x81]) }]),
  'modes of files and folders': () =>
    zip([manifest, { name: 'package/', listed: unixMode(0o040755) }, { ...file, listed: unixMode(0o100644) }]),
  'dots within names': () => zip([manifest, { name: 'package/..a' }, { name: 'package/a..b' }, { name: '.hidden' }]),
  'the keys of others': () =>
    zip([
      {
        ...manifest,
        content: '{"name":"thing","version":"1.0.0","a":{"name":"x","b":["name",{"name":1}]},"c":"\\"{,"}',
      },
    ]),
  'ten thousand files': () =>
    zip([manifest, ...Array.from({ length: 10_000 }, (_, n) => ({ name: `package/d${n % 100}/f${n}` }))]),
}
