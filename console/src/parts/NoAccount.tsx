import { hrefOf } from '../router.js'
import { Empty } from './Empty.js'

/** For an operator who acts in no account: what the screen shows belongs to one. */
export function NoAccount() {
  return (
    <Empty title="Choose an account first">
      <p>What stands here belongs to an account. As an operator you may enter any of them.</p>
      <p>
        <a href={hrefOf('settings', { view: 'accounts' })}>All accounts</a>
      </p>
    </Empty>
  )
}
