// Every thread says who it is and what it has.

__global__ void hello(const int *numbers)
{
    printf("Hello!\n"); // TODO: print a line such as "block 1, thread 2: numbers[5] is 36"
}
