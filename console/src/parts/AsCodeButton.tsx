import { AsCode, type Codes } from './AsCode.js'
import { Icon } from './Icon.js'
import { useOpen } from './useOpen.js'

type AsCodeButtonProps = { readonly title: string; readonly codes: Codes }

/** Shows on demand how the API and the command line say what the screen says. */
export function AsCodeButton({ title, codes }: AsCodeButtonProps) {
  const code = useOpen()
  return (
    <>
      <button type="button" class="as-code" aria-label="As code" onClick={code.open}>
        <Icon name="code" /> <span class="label">As code</span>
      </button>
      {code.isOpen && <AsCode title={title} codes={codes} onClose={code.close} />}
    </>
  )
}
