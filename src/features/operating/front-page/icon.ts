/** Shelves, 32 pixels wide: a PNG in the container that every browser asks for. */
const text = [
  'AAABAAEAICAAAAEAIACZAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAIDAAAADhSSZwAAAAlQTFRFAAAAC1fC////v20K',
  'RwAAAAN0Uk5TAP//RFDWIQAAADxJREFUeNpjYBANBYIQBgbGUDBwYGCFMAIgMiA5OCMUCrAxwlYBwVT8DCrqWkqIgdupmP6Cexke',
  'CLBgAQAt3GE/X+pfWwAAAABJRU5ErkJggg==',
]

export const icon = (): Uint8Array => Buffer.from(text.join(''), 'base64')
