/** A file that was dropped or chosen, with the folders that it lay in. */
export interface Dropped {
  readonly path: string
  readonly file: File
  readonly handle: FileSystemFileHandle | null
}

const filesIn = async (entry: FileSystemEntry): Promise<Dropped[]> => {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    return [{ path: entry.fullPath.replace(/^\//, ''), file, handle: null }]
  }
  if (!isFolder(entry)) return []
  const reader = entry.createReader()
  const found: Dropped[] = []
  for (;;) {
    // A browser hands over a hundred at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return found
    for (const each of some) found.push(...(await filesIn(each)))
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** Everything that a drop holds, also in folders. The list of a drop is gone after this turn, so it is read first. */
export const droppedFiles = async (transfer: DataTransfer): Promise<Dropped[]> => {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return chosenFiles(transfer.files)
  return (await Promise.all(entries.map(filesIn))).flat()
}

export const chosenFiles = (list: FileList): Dropped[] =>
  [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file, handle: null }))

const isControl = (character: string): boolean => character < ' ' || character === '\u007f'

/** Whether the service would refuse a path, before it is asked. */
export const isFaulty = (path: string): boolean =>
  path.length > 1024 ||
  [...path].some((character) => isControl(character) || character === ':' || character === '\\') ||
  path.split('/').some((name) => name === '' || name === '.' || name === '..')
