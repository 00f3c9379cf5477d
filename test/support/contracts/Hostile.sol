// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

struct Operation06 {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    uint256 callGasLimit;
    uint256 verificationGasLimit;
    uint256 preVerificationGas;
    uint256 maxFeePerGas;
    uint256 maxPriorityFeePerGas;
    bytes paymasterAndData;
    bytes signature;
}

struct Operation07 {
    address sender;
    uint256 nonce;
    bytes initCode;
    bytes callData;
    bytes32 accountGasLimits;
    uint256 preVerificationGas;
    bytes32 gasFees;
    bytes paymasterAndData;
    bytes signature;
}

/// What to do when a fact holds. The first clause whose fact holds is done.
struct Clause {
    Fact fact;
    uint256 argument;
    Act act;
    uint256 amount;
    address subject;
}

enum Fact {
    Always,
    Mood,
    BlockParity,
    SecondParity,
    Origin,
    GasBelow,
    OwnBalanceBelow,
    BalanceBelow,
    HasCode,
    BaseFeeBelow,
    GasPriceBelow
}

enum Act {
    Nothing,
    Fail,
    Revert,
    BurnTo,
    Invalid,
    Range,
    Long,
    Write,
    Clear,
    SendAll,
    SetMood,
    Log,
    Create,
    Withdraw,
    Call,
    Reenter,
    Memory,
    Pad
}

interface EntryPoint {
    function balanceOf(address account) external view returns (uint256);
    function withdrawTo(address payable to, uint256 amount) external;
}

/// Account and paymaster of every EntryPoint version. Its behaviour is in the operation (signature,
/// call data, paymaster data, context), and may depend on what differs between a simulation and a block.
contract Hostile {
    uint256 public mood;
    uint256[64] private cells;

    event Noise(uint256 index);

    receive() external payable {}

    function setMood(uint256 value) external {
        mood = value;
    }

    function validateUserOp(Operation06 calldata op, bytes32, uint256 missing) external returns (uint256) {
        return validate(op.signature, missing);
    }

    function validateUserOp(Operation07 calldata op, bytes32, uint256 missing) external returns (uint256) {
        return validate(op.signature, missing);
    }

    function validate(bytes calldata program, uint256 missing) internal virtual returns (uint256 validationData) {
        if (missing > 0) payable(msg.sender).call{value: missing}("");
        uint256 padding;
        (validationData,, padding) = run(program);
        if (padding > 0) answer(validationData, padding);
    }

    /// Answers the word and so many bytes behind it.
    function answer(uint256 word, uint256 padding) internal pure {
        assembly {
            mstore(0, word)
            return(0, add(32, padding))
        }
    }

    function validatePaymasterUserOp(Operation06 calldata op, bytes32, uint256)
        external
        returns (bytes memory, uint256)
    {
        return sponsor(op.paymasterAndData[20:]);
    }

    function validatePaymasterUserOp(Operation07 calldata op, bytes32, uint256)
        external
        returns (bytes memory, uint256)
    {
        return sponsor(op.paymasterAndData[52:]);
    }

    /// The data holds two programs: that of validation and, as context, that of postOp.
    function sponsor(bytes calldata programs) private returns (bytes memory, uint256) {
        if (programs.length == 0) return ("", 0);
        (bytes memory first, bytes memory context) = abi.decode(programs, (bytes, bytes));
        (uint256 validationData, uint256 size, uint256 padding) = this.runOf(first);
        bytes memory encoded = abi.encode(size > 0 ? new bytes(size) : context, validationData);
        assembly { return(add(encoded, 32), add(mload(encoded), padding)) }
    }

    /// Only for itself: what a program does is done in the name of this contract.
    function runOf(bytes calldata program) external returns (uint256, uint256, uint256) {
        return run(program);
    }

    function postOp(uint8, bytes calldata context, uint256) external {
        runPadded(context);
    }

    function postOp(uint8, bytes calldata context, uint256, uint256) external {
        runPadded(context);
    }

    /// The execution of an operation, and what anybody asks for.
    function execute(bytes calldata program) external {
        runPadded(program);
    }

    function runPadded(bytes calldata program) private {
        (,, uint256 padding) = run(program);
        if (padding > 0) answer(0, padding);
    }

    function run(bytes calldata program)
        internal
        returns (uint256 validationData, uint256 contextSize, uint256 padding)
    {
        if (program.length < 64) return (0, 0, 0);
        Clause[] memory clauses = abi.decode(program, (Clause[]));
        for (uint256 index = 0; index < clauses.length; index++) {
            if (holds(clauses[index])) return perform(clauses[index]);
        }
    }

    function holds(Clause memory clause) private view returns (bool) {
        (Fact fact, uint256 argument) = (clause.fact, clause.argument);
        if (fact == Fact.Always) return true;
        if (fact == Fact.Mood) return mood == argument;
        if (fact == Fact.BlockParity) return block.number % 2 == argument % 2;
        if (fact == Fact.SecondParity) return block.timestamp % 2 == argument % 2;
        if (fact == Fact.Origin) return tx.origin == clause.subject;
        if (fact == Fact.GasBelow) return gasleft() < argument;
        if (fact == Fact.OwnBalanceBelow) return address(this).balance < argument;
        if (fact == Fact.BalanceBelow) return clause.subject.balance < argument;
        if (fact == Fact.HasCode) return clause.subject.code.length > 0;
        if (fact == Fact.BaseFeeBelow) return block.basefee < argument;
        return tx.gasprice < argument;
    }

    function perform(Clause memory clause)
        private
        returns (uint256 validationData, uint256 contextSize, uint256 padding)
    {
        (Act act, uint256 amount, address subject) = (clause.act, clause.amount, clause.subject);
        if (act == Act.Fail) validationData = 1;
        else if (act == Act.Revert) assembly { revert(0, amount) }
        else if (act == Act.BurnTo) while (gasleft() > amount) {}
        else if (act == Act.Invalid) assembly { invalid() }
        else if (act == Act.Range) validationData = amount << 160;
        else if (act == Act.Long) contextSize = amount;
        else if (act == Act.Write) for (uint256 cell = 0; cell < amount; cell++) cells[cell] += 1;
        else if (act == Act.Clear) for (uint256 cell = 0; cell < amount; cell++) cells[cell] = 0;
        else if (act == Act.SendAll) subject.call{value: address(this).balance}("");
        else if (act == Act.SetMood) subject.call{gas: 60_000}(abi.encodeCall(this.setMood, (amount)));
        else if (act == Act.Log) for (uint256 index = 0; index < amount; index++) emit Noise(index);
        else if (act == Act.Create) assembly { pop(create(0, 0, amount)) }
        else if (act == Act.Withdraw) withdraw(EntryPoint(subject));
        else if (act == Act.Call) subject.call{gas: 100_000}("");
        else if (act == Act.Reenter) {
            subject.call(abi.encodeWithSignature("handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)", new uint256[](0), address(this)));
        } else if (act == Act.Memory) assembly { mstore(amount, 1) }
        else if (act == Act.Pad) padding = amount;
    }

    function withdraw(EntryPoint entryPoint) private {
        try entryPoint.balanceOf(address(this)) returns (uint256 deposit) {
            try entryPoint.withdrawTo(payable(address(this)), deposit) {} catch {}
        } catch {}
    }
}

/// Makes hostile accounts, and is one.
contract HostileFactory is Hostile {
    function make(bytes32 salt, bytes calldata program) external returns (address made) {
        made = address(new Hostile{salt: salt}());
        (,, uint256 padding) = run(program);
        if (padding > 0) answer(uint160(made), padding);
    }
}

/// A delegate (EIP-7702) that validates for one EntryPoint alone.
contract HostileDelegate is Hostile {
    address private immutable served;

    constructor(address entryPoint) {
        served = entryPoint;
    }

    function validate(bytes calldata program, uint256 missing) internal override returns (uint256) {
        require(msg.sender == served);
        return super.validate(program, missing);
    }
}
