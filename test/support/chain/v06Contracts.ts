import { compileSolidity } from './compileSolidity.js'

/** Contracts that operations of the tests meet. */
export const contracts = compileSolidity(`
contract Target {
    error Custom(uint256 number, address who);
    mapping(uint256 => uint256) public slots;
    uint256 public burnt;

    function write(uint256 from, uint256 count) external {
        for (uint256 i = from; i < from + count; i++) slots[i] = i + 1;
    }
    function fail(string calldata reason) external pure { revert(reason); }
    function failCustom() external view { revert Custom(7, msg.sender); }
    function failLong(uint256 length) external pure {
        assembly { revert(0x1000, length) }
    }
    function nest(uint256 depth, uint256 count) external {
        if (depth > 0) this.nest(depth - 1, count);
        else for (uint256 i = 0; i < count; i++) slots[i] = i + 1;
    }
    function swallow(uint256 count) external {
        try this.nest(0, count) {} catch {}
    }
    function toggle(uint256 at) external { slots[at] = slots[at] == 0 ? 1 : 0; }
    function burnAll() external { while (gasleft() > 3000) {} }
    function burn(uint256 loops) external returns (uint256 x) {
        for (uint256 i = 0; i < loops; i++) {
            assembly { mstore(0, x) mstore(32, i) x := keccak256(0, 64) }
        }
        burnt = x;
    }
    receive() external payable {}
}

contract Paymaster {
    uint256 public work;
    uint256 public until;
    uint256 public failsAt;
    mapping(uint256 => uint256) slots;
    uint256 public charged;
    bool public badSignature;

    function set(uint256 work_, uint256 until_, bool badSignature_, uint256 failsAt_) external {
        (work, until, badSignature, failsAt) = (work_, until_, badSignature_, failsAt_);
    }
    fallback() external {
        if (msg.sig == 0xf465c77e) {
            require(failsAt != 1, "not today");
            uint256 data = (until << 160) | (badSignature ? 1 : 0);
            bytes memory context = work > 0 ? abi.encode(msg.sender) : bytes("");
            bytes memory result = abi.encode(context, data);
            assembly { return(add(result, 32), mload(result)) }
        }
        require(failsAt != 2, "cannot charge");
        charged = charged + 1;
        for (uint256 i = 0; i < work; i++) slots[charged * 1000 + i] = 1;
    }
}

contract SilentAccount {
    fallback() external {}
}

contract AggregatedAccount {
    fallback() external {
        uint256 data = uint256(uint160(address(0xa66)));
        assembly { mstore(0, data) return(0, 32) }
    }
}

contract UnsignedAccount {
    receive() external payable {}
    fallback() external payable {
        uint256 missing = uint256(bytes32(msg.data[68:100]));
        (bool paid,) = msg.sender.call{value: missing}("");
        require(paid);
        assembly { mstore(0, 0) return(0, 32) }
    }
}

contract RefusingAccount {
    fallback() external { revert("not my owner"); }
}
`)
