import type { Answer } from '../../contract/call.ts'
import { Icon } from '../../look/icons.tsx'
import { Tag } from '../../parts/values.tsx'
import { said, t } from '../../words/words.ts'

export type PointRow = Answer<'listBackupPoints'>['items'][number]

type Checked = Pick<PointRow, 'verifiedAt' | 'verifyError' | 'verifyDepth' | 'pinned'>

const toneOf = ({ verifiedAt, verifyError }: Checked): 'ok' | 'danger' | 'plain' =>
  verifyError !== null ? 'danger' : verifiedAt === null ? 'plain' : 'ok'

/** How far a point was verified, and whether it is pinned. */
export const PointState = ({ point }: { readonly point: Checked }) => (
  <span className="name">
    <Tag
      tone={toneOf(point)}
      text={
        point.verifyError !== null
          ? t('backups.damaged')
          : point.verifiedAt === null
            ? t('backups.unverified')
            : said('depth', point.verifyDepth ?? 'structural')
      }
    />
    {point.pinned ? <Icon name="pin" /> : null}
  </span>
)
